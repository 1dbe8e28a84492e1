// Runs that the previous version left on disk go on, are evaluated, rendered and reported: see
// previous_version/README.md.
#include <stein/core/simd_target.h>

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "skip.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

/// A copy of the runs that the program may write to.
void copy_runs(const TemporaryDirectory& folder) {
  std::filesystem::copy(STEIN_PREVIOUS_VERSION, folder.path(), std::filesystem::copy_options::recursive);
}

/// The SIMD target that the run was made with.
std::string target_of(const std::filesystem::path& run) {
  return Json::parse(content_of(run / "manifest.json"))["simd_target"];
}

/// Whether this machine computes with the instructions that the run was made with.
bool same_target(const std::filesystem::path& run) {
  return target_of(run) == stein::simd_target();
}

/// A log of decisions without what the previous version did not keep: contexts and names of arms.
std::vector<Json> decisions_of(const std::filesystem::path& path) {
  std::istringstream lines(content_of(path));
  std::vector<Json> decisions;
  for (std::string line; std::getline(lines, line);) {
    decisions.push_back(Json::parse(line));
    for (const char* added : {"context", "active", "arm"}) decisions.back().erase(added);
  }
  return decisions;
}

/// The metrics of a run whose tags the run at `like` has too, line by line: others were added since.
std::vector<Json> metrics_of(const std::filesystem::path& path, const std::filesystem::path& like) {
  const auto read = [](const std::filesystem::path& file) {
    std::istringstream lines(content_of(file));
    std::vector<Json> metrics;
    for (std::string line; std::getline(lines, line);) metrics.push_back(Json::parse(line));
    return metrics;
  };
  std::set<std::string> tags;
  for (const Json& metric : read(like)) tags.insert(metric["tag"].get<std::string>());
  std::vector<Json> found = read(path);
  std::erase_if(found, [&](const Json& metric) { return !tags.contains(metric["tag"].get<std::string>()); });
  return found;
}

}  // namespace

TEST_CASE("runs of the previous version are resumed to the bits that they would have had",
          "[cli][resume][simd-target]") {
  const TemporaryDirectory folder;
  copy_runs(folder);
  const std::string kind = GENERATE("bandit", "rl");
  const Outcome resumed = run(folder.path(), {"resume", kind, "--threads", "2", "--json"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  const Json before = Json::parse(content_of(folder / (kind + "-finished/summary.json")));
  const std::string value = kind == "rl" ? "return" : "regret";
  const bool exact = same_target(folder / kind);
  for (std::size_t i = 0; i < before["seeds"].size(); ++i)
    CHECK(resumed.json()[value]["per_seed"][i].get<double>() ==
          Approx(before[value]["per_seed"][i].get<double>()).epsilon(exact ? 1e-15 : 0.5));
  if (!exact) skip("bits of " + target_of(folder / kind) + " on a machine of " + stein::simd_target());
  const auto finished = folder / (kind + "-finished/metrics.jsonl");
  CHECK(metrics_of(folder / kind / "metrics.jsonl", finished) == metrics_of(finished, finished));
  if (kind == "bandit")
    CHECK(decisions_of(folder / "bandit/decisions.jsonl") == decisions_of(folder / "bandit-finished/decisions.jsonl"));
}

TEST_CASE("runs of the previous version are evaluated and rendered", "[cli]") {
  const TemporaryDirectory folder;
  copy_runs(folder);
  const Outcome evaluated = run(folder.path(), {"eval", "rl", "--episodes", "4", "--json"});
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.code == 0);
  const Json before = Json::parse(content_of(folder / "rl-eval.json"));
  CHECK(evaluated.json()["episode_return"]["mean"].get<double>() ==
        Approx(before["return"]["mean"].get<double>()).epsilon(same_target(folder / "rl") ? 1e-15 : 0.5));
  CHECK(run(folder.path(), {"eval", "bandit", "--interactions", "20"}).code == 0);
  CHECK(run(folder.path(), {"render", "rl", "--out", "episode.svg"}).code == 0);
  CHECK_THAT(content_of(folder / "episode.svg"), Contains("<svg"));
}

TEST_CASE("finished runs of the previous version stand in a report, and print their result again", "[cli][report]") {
  const TemporaryDirectory folder;
  copy_runs(folder);
  const Outcome report = run(folder.path(), {"report", "bandit-finished", "rl-finished", "--out", "page.html"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("196.2 ± 1.8") && Contains("-205.8"));
  CHECK_THAT(run(folder.path(), {"resume", "rl-finished"}).out, Contains("-205.8"));
}

TEST_CASE("a run of the previous version is refused where an option was changed, by its name", "[cli][resume]") {
  const TemporaryDirectory folder;
  copy_runs(folder);
  std::string config = content_of(folder / "bandit/config.toml");
  const std::size_t place = config.find("buffer = 32");
  REQUIRE(place != std::string::npos);
  std::ofstream(folder / "bandit/config.toml") << config.replace(place, 11, "buffer = 33");
  const Outcome refused = run(folder.path(), {"resume", "bandit"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("`buffer = 32`") && Contains("`buffer = 33`"));
}
