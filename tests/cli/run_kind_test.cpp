// A kind of run that only a test has (walk_kind.cpp) is started, killed, resumed, evaluated, swept and reported by the
// program, in which no file names it.
#include <catch2/catch.hpp>
#include <csignal>
#include <sstream>

#include "cli/browser.h"
#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

Outcome walk(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  return Program(folder, std::move(arguments), {}, STEIN_PROGRAM_WITH_TEST_KINDS).wait();
}

std::vector<std::string> start(const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"walk", "--seeds", "0:3", "--out", out, "--quiet", "--set", "length=400"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("a new kind of run is listed and has help with its options and presets", "[cli][kind]") {
  const TemporaryDirectory folder;
  CHECK_THAT(walk(folder.path(), {"list"}).out, Contains("Walk towards the mean of a stream") && Contains("slow"));
  CHECK_THAT(walk(folder.path(), {"--help"}).out, Contains("walk"));
  const Outcome help = walk(folder.path(), {"walk", "--help"});
  CHECK(help.code == 0);
  CHECK_THAT(help.out, Contains("--step-size") && Contains("validate_every") && Contains("  slow\n") &&
                           Contains(": a tenth of the usual step\n"));
  const Outcome near = walk(folder.path(), {"walk", "--set", "step_sise=0.2"});
  CHECK(near.code == 2);
  CHECK_THAT(near.err, Contains("Did you mean 'step_size'?"));
}

TEST_CASE("a new kind of run, killed and resumed, leaves the bytes of an uninterrupted one", "[cli][kind][resume]") {
  const TemporaryDirectory folder;
  const std::vector<std::string> settings{"--set", "validate_every=20", "pause=200"};
  REQUIRE(walk(folder.path(), start("whole", settings)).code == 0);
  Program program(folder.path(), start("part", settings), {}, STEIN_PROGRAM_WITH_TEST_KINDS);
  REQUIRE(program.wait_until(
      [&] { return std::filesystem::exists(folder / "part/checkpoints/checkpoint-100.safetensors"); }));
  program.send(SIGKILL);
  program.wait();
  const Outcome resumed = walk(folder.path(), {"resume", "part", "--json", "--quiet"});
  CAPTURE(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(content_of(folder / "part/metrics.jsonl") == content_of(folder / "whole/metrics.jsonl"));
  CHECK(files_of(folder / "part/checkpoints") == files_of(folder / "whole/checkpoints"));
  CHECK(resumed.json()["steps"] == 0);  // nobody asked for a number
  CHECK(resumed.json()["steps_done"]["per_seed"] == Json({400, 400, 400}));
  const Json validation = resumed.json()["validation"];
  CHECK(validation["best_score"]["mean"].get<double>() < 0.1);
  for (const Json& step : validation["best_step"]["per_seed"]) CHECK(step.get<int>() % 20 == 0);
  const Json best = walk(folder.path(), {"eval", "part", "--best", "--json"}).json();
  CHECK(best["distance"] == validation["best_score"]);
  CHECK(walk(folder.path(), {"eval", "part", "--json"}).json()["distance"] != best["distance"]);
  CHECK(walk(folder.path(), {"resume", "part", "--json", "--quiet"}).out == resumed.out);
}

TEST_CASE("the end of a stream and early stopping end a run of unknown length", "[cli][kind]") {
  const TemporaryDirectory folder;
  const Json whole = walk(folder.path(), start("whole", {"--json"})).json();
  CHECK(whole["steps_done"]["mean"] == 400);
  const Json early = walk(folder.path(), start("early", {"--json", "--set", "validate_every=10", "patience=2"})).json();
  CHECK(early["steps_done"]["mean"].get<double>() < 400);
  const Outcome useless = walk(folder.path(), start("useless", {"--set", "patience=2"}));
  CHECK(useless.code == 2);
  CHECK_THAT(useless.err, Contains("patience = 2") && Contains("validate_every"));
  const Json shorter = walk(folder.path(), start("short", {"--json", "--set", "steps=30"})).json();
  CHECK(shorter["steps"] == 30);
  CHECK_FALSE(shorter.contains("steps_done"));
  CHECK(walk(folder.path(), start("stopped", {"--stop-after", "100"})).code == 75);
}

TEST_CASE("a new kind of run is evaluated, and stands in a table and on a page", "[cli][kind][report][browser]") {
  const TemporaryDirectory folder;
  REQUIRE(walk(folder.path(), start("walk")).code == 0);
  const Json evaluated = walk(folder.path(), {"eval", "walk", "--target", "5", "--json"}).json();
  CHECK(evaluated["distance"]["per_seed"].size() == 3);
  CHECK(evaluated["distance"]["mean"].get<double>() > 3);
  const Outcome report = walk(folder.path(), {"report", "walk"});
  CAPTURE(report.err);
  REQUIRE(report.code == 0);
  CHECK_THAT(report.out, Contains("line, all steps, 3 seeds") && Contains("place, mean ± sd"));
  const std::string dom = rendered(folder.path(), "walk/report.html");
  check_page(folder.path(), dom, {"place"});
  CHECK_THAT(shown_text(dom), Contains("Walk report: line"));
}

TEST_CASE("a sweep is a run a value with one table and one report, and goes on where it stopped",
          "[cli][kind][sweep]") {
  const TemporaryDirectory folder;
  const auto sweep = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = start("sweep", {"--sweep", "step_size=0.1,0.5", "--sweep", "steps=60,90"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return walk(folder.path(), arguments);
  };
  CHECK(sweep({"--stop-after", "50"}).code == 75);
  const Outcome unfinished = walk(folder.path(), {"report", "sweep"});
  CHECK(unfinished.code == 0);
  CHECK_THAT(unfinished.out, Contains("After 50 steps: the run in 'sweep/step_size=0.1_steps=60' is not finished"));
  const Outcome finished = walk(folder.path(), {"resume", "sweep", "--quiet"});
  CAPTURE(finished.err);
  REQUIRE(finished.code == 0);
  for (const char* name :
       {"step_size=0.1_steps=60", "step_size=0.1_steps=90", "step_size=0.5_steps=60", "step_size=0.5_steps=90"}) {
    CHECK(std::filesystem::exists(folder / "sweep" / name / "summary.json"));
  }
  CHECK_THAT(finished.out, Contains("sweep, 4 of 4 runs, over step_size and steps") &&
                               Contains("\n  step_size=0.1, steps=60 ") && Contains("\n  step_size=0.5, steps=90 "));
  CHECK_THAT(walk(folder.path(), {"report", "sweep"}).out, Contains("\n  step_size=0.5, steps=60 "));
  CHECK(std::filesystem::exists(folder / "sweep/report.html"));
  const Json again = sweep({"--json"}).json();  // nothing is left to do
  CHECK(again["runs"].size() == 4);
  CHECK(again["sweep"]["step_size"] == Json({"0.1", "0.5"}));
  CHECK(again["runs"][3]["place"]["per_seed"].size() == 3);
  CHECK(walk(folder.path(), {"report", "sweep"}).code == 0);

  const Outcome other = walk(folder.path(), start("sweep", {"--sweep", "step_size=0.1,0.6"}));
  CHECK(other.code == 2);
  CHECK_THAT(other.err, Contains("holds another sweep"));
  const Outcome longer = walk(folder.path(), {"resume", "sweep", "--set", "steps=500"});
  CHECK(longer.code == 2);
  CHECK_THAT(longer.err, Contains("the sweep compares runs with different steps"));
  const Outcome twice = walk(folder.path(), start("new", {"--sweep", "length=60,90"}));
  CHECK(twice.code == 2);
  CHECK_THAT(twice.err, Contains("--sweep length: it is set as well"));
  const Outcome wrong = walk(folder.path(), start("new", {"--sweep", "step_size=0.1,7"}));
  CHECK(wrong.code == 2);  // before any of its runs has begun
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
}

TEST_CASE("a preset is below a setting, and its name is kept", "[cli][kind]") {
  const TemporaryDirectory folder;
  const Json preset = walk(folder.path(), start("preset", {"--preset", "slow", "--json"})).json();
  CHECK(preset["preset"] == "slow");
  CHECK(walk(folder.path(), start("part", {"--preset", "slow", "--stop-after", "100"})).code == 75);
  CHECK(walk(folder.path(), {"resume", "part", "--json", "--quiet"}).json()["preset"] == "slow");
  CHECK_THAT(content_of(folder / "preset/config.toml"), Contains("step_size = 0.01"));
  REQUIRE(walk(folder.path(), start("both", {"--preset", "slow", "--step-size", "0.3"})).code == 0);
  CHECK_THAT(content_of(folder / "both/config.toml"), Contains("step_size = 0.3"));
}

TEST_CASE("a run from before an option goes on with its declared value, and is refused where there is none",
          "[cli][kind][resume]") {
  const TemporaryDirectory folder;
  REQUIRE(walk(folder.path(), start("walk", {"--stop-after", "100"})).code == 75);
  const auto leave_out = [&](const std::string& key) {
    std::istringstream lines(content_of(folder / "walk/config.toml"));
    std::ofstream file(folder / "walk/config.toml.new");
    bool found = false;
    for (std::string line; std::getline(lines, line);) {
      const bool is_it = line.starts_with(key + " =");
      found |= is_it;
      if (!is_it) file << line << "\n";
    }
    file.close();
    std::filesystem::rename(folder / "walk/config.toml.new", folder / "walk/config.toml");
    return found;
  };
  REQUIRE(leave_out("smooth"));
  const Outcome resumed = walk(folder.path(), {"resume", "walk", "--stop-after", "200", "--quiet"});
  CAPTURE(resumed.err);
  CHECK(resumed.code == 75);
  CHECK_THAT(content_of(folder / "walk/config.toml"), Contains("smooth = false"));
  REQUIRE(leave_out("step_size"));
  const Outcome refused = walk(folder.path(), {"resume", "walk"});
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, Contains("config.toml' has no 'step_size'"));
}

TEST_CASE("a run of a kind that a program does not know is refused by name", "[cli][kind][bad-input]") {
  const TemporaryDirectory folder;
  REQUIRE(walk(folder.path(), start("walk")).code == 0);
  for (const char* command : {"resume", "eval", "report"}) {
    const Outcome refused = run(folder.path(), {command, "walk"});
    CHECK(refused.code == 3);
    CHECK_THAT(refused.err, Contains("kind 'walk'") && Contains("knows bandit, "));
  }
}

TEST_CASE("a sweep that overwrites looks before it removes, and never touches what is none", "[cli][kind][sweep]") {
  const TemporaryDirectory folder;
  const auto sweep = [&](const std::string& values, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = start("sweep", {"--sweep", "step_size=" + values});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return walk(folder.path(), arguments);
  };
  REQUIRE(sweep("0.1,0.2").code == 0);
  std::filesystem::create_directories(folder / "sweep/step_size=0.3");
  std::ofstream(folder / "sweep/step_size=0.3/notes.txt") << "mine";
  const Outcome refused = sweep("0.1,0.3", {"--overwrite"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("step_size=0.3") && Contains("nothing was overwritten"));
  CHECK(std::filesystem::exists(folder / "sweep/step_size=0.1/summary.json"));
  REQUIRE(sweep("0.1,0.4", {"--overwrite"}).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "sweep/step_size=0.2/summary.json"));

  std::filesystem::create_directories(folder / "mine");
  std::ofstream(folder / "mine/report.html") << "mine";
  CHECK(walk(folder.path(), start("mine", {"--sweep", "step_size=0.1", "--overwrite"})).code == 2);
  CHECK(content_of(folder / "mine/report.html") == "mine");
  CHECK_THAT(walk(folder.path(), {"eval", "sweep"}).err, Contains("is the folder of a sweep"));
}

TEST_CASE("a run of a sweep that diverges stops none of the others", "[cli][sweep][numeric]") {
  const TemporaryDirectory folder;
  const Outcome swept =
      run(folder.path(), {"bandit", "--env", "wheel", "--policy", "svgd", "--sweep", "step_size=0.001,1e30,0.002",
                          "--set", "steps=60", "updates=2", "--out", "sweep", "--json", "--quiet"});
  CHECK(swept.code == 4);
  const Json runs = swept.json()["runs"];
  REQUIRE(runs.size() == 3);
  CHECK(runs[1].contains("diverged"));
  CHECK(runs[2]["settings"]["step_size"] == "0.002");
  CHECK(runs[2]["regret"]["mean"].is_number());
  CHECK(run(folder.path(), {"report", "sweep"}).code == 0);
  CHECK(run(folder.path(), {"resume", "sweep", "--quiet"}).code == 4);
}

TEST_CASE("an empty text is no value", "[cli][bad-input]") {
  const TemporaryDirectory folder;
  for (const char* argument : {"--env", "--policy", "--preset", "--seeds", "--out"}) {
    const Outcome refused = run(folder.path(), {"bandit", argument, ""});
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains(argument));
  }
}
