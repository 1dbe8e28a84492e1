// Runs whose repetitions are spread over ranks, here threads: the files of a single process, whatever happens.
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/distributed/agree.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/start_run.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "core/temporary_directory.h"
#include "distributed/thread_ranks.h"
#include "runs/toy_experiment.h"

using namespace stein;
using distributed::AgreedError;
using runs::SessionOptions;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;
using Ranks = std::shared_ptr<distributed::Communicator>;

/// How a session ended on each rank: "finished", "stopped" or the error's sentence.
using Ends = std::vector<std::string>;

Ends on_ranks(int size, const std::function<bool(const SessionOptions& options)>& session, SessionOptions options) {
  set_log_level(LogLevel::error);
  Ends ends(static_cast<std::size_t>(size));
  test::on_ranks(size, [&](const Ranks& ranks) {
    SessionOptions own = options;
    own.quiet = true;
    if (size > 1) own.ranks = ranks;
    std::string& end = ends[static_cast<std::size_t>(ranks->rank())];
    try {
      end = session(own) ? "finished" : "stopped";
    } catch (const Error& error) {
      end = error.what();
    }
  });
  return ends;
}

/// @param of_rank  settings of one rank besides
Ends start_on(int size, const fs::path& root, const Settings& settings, const SessionOptions& options = {},
              const std::map<int, Settings>& of_rank = {}) {
  return on_ranks(
      size,
      [&](const SessionOptions& own) {
        Settings all = settings;
        if (const auto place = of_rank.find(own.ranks->rank()); place != of_rank.end())
          all.insert(all.end(), place->second.begin(), place->second.end());
        const test::CounterExperiment experiment(test::registered_counter(), {.preset = "", .settings = all});
        return runs::start_run(experiment, root, Existing::refuse, own).finished;
      },
      options);
}

Ends resume_on(int size, const fs::path& root, const Settings& settings = {}, const SessionOptions& options = {}) {
  return on_ranks(
      size,
      [&](const SessionOptions& own) {
        const auto access = own.ranks->is_root() ? Access::write : Access::read;
        return runs::resume_run(RunDirectory::open(root, access), settings, own).finished;
      },
      options);
}

/// All that must not depend on the number of ranks.
std::map<std::string, std::string> files_of_any_ranks(const fs::path& root) {
  std::map<std::string, std::string> files;
  for (const char* name : {"config.toml", "metrics.jsonl", "lines.txt", "counted.txt"})
    files[name] = read_file(root / name);
  for (const auto& entry : fs::directory_iterator(root / "checkpoints"))
    files[entry.path().filename().string()] = read_file(entry.path());
  Json summary = Json::parse(read_file(root / "summary.json"));
  for (const char* own : {"wall_seconds", "peak_memory_mb", "run_directory"}) summary.erase(own);
  files["summary.json"] = summary.dump();
  return files;
}

/// Seeds that take strides of 3, 4, 5, 6 and 7: none is at a checkpoint when others are.
const Settings uneven{{"seeds", "2:7"}, {"steps", "100"}, {"checkpoint_every", "30"}, {"warns_at", "103"}};

}  // namespace

TEST_CASE("any number of ranks leaves the files of a single process", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  const int size = GENERATE(2, 3, 4, 7);  // of seven, two have nothing to do
  REQUIRE(start_on(1, folder / "one", uneven) == Ends{"finished"});
  CHECK(start_on(size, folder / "many", uneven) == Ends(static_cast<std::size_t>(size), "finished"));
  CHECK(files_of_any_ranks(folder / "many") == files_of_any_ranks(folder / "one"));
  CHECK(Json::parse(read_file(folder / "many/manifest.json"))["ranks"] == size);
  CHECK_FALSE(Json::parse(read_file(folder / "one/manifest.json")).contains("ranks"));
}

TEST_CASE("repetitions that end by themselves do so on every rank", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  Settings settings = uneven;
  settings.emplace_back("end", "50");
  REQUIRE(start_on(1, folder / "one", settings) == Ends{"finished"});
  CHECK(start_on(3, folder / "many", settings) == Ends(3, "finished"));
  CHECK(files_of_any_ranks(folder / "many") == files_of_any_ranks(folder / "one"));
}

TEST_CASE("a run goes on with another number of ranks", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  const auto [first, then] = GENERATE(table<int, int>({{1, 3}, {3, 1}, {4, 2}, {2, 3}}));
  const auto stop_after = GENERATE(30, 41, 100);
  REQUIRE(start_on(1, folder / "one", uneven) == Ends{"finished"});
  CHECK(start_on(first, folder / "many", uneven, {.stop_after = stop_after}).front() ==
        (stop_after < 100 ? "stopped" : "finished"));
  CHECK(resume_on(then, folder / "many") == Ends(static_cast<std::size_t>(then), "finished"));
  CHECK(files_of_any_ranks(folder / "many")["metrics.jsonl"] == files_of_any_ranks(folder / "one")["metrics.jsonl"]);
  CHECK(files_of_any_ranks(folder / "many")["summary.json"] == files_of_any_ranks(folder / "one")["summary.json"]);
  const fs::path last = "checkpoints/checkpoint-100.safetensors";
  CHECK(read_file(folder / "many" / last) == read_file(folder / "one" / last));
}

TEST_CASE("a stop that one rank is asked for stops all, with one checkpoint", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  const int asked = GENERATE(0, 2);
  const auto start_asking = [&](const SessionOptions& shared) {
    SessionOptions own = shared;
    own.stop = StopToken();
    if (own.ranks->rank() == asked) own.stop.request_stop();
    const test::CounterExperiment experiment(test::registered_counter(), {.preset = "", .settings = uneven});
    return runs::start_run(experiment, folder / "run", Existing::refuse, own).finished;
  };
  CHECK(on_ranks(3, start_asking, {}) == Ends(3, "stopped"));
  CHECK(fs::exists(folder / "run/checkpoints/checkpoint-0.safetensors"));
  CHECK(resume_on(2, folder / "run") == Ends(2, "finished"));
  REQUIRE(start_on(1, folder / "one", uneven) == Ends{"finished"});
  CHECK(files_of_any_ranks(folder / "run") == files_of_any_ranks(folder / "one"));
}

TEST_CASE("a repetition that diverges on one rank ends all with its sentence", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  // Strides of 1, 2 and 3: the last one is the first at 40, on rank 2; each rank goes on to the end of its round.
  const Settings settings{
      {"seeds", "0:3"}, {"steps", "100"}, {"checkpoint_every", "30"}, {"breaks_at", "40"}, {"strides_at_once", "30"}};
  const Ends ends = start_on(3, folder / "run", settings);
  for (const std::string& end : ends) CHECK_THAT(end, Catch::Contains("lost count at") && Catch::Contains("'"));
  CHECK_THAT(read_file(folder / "run/diverged.txt"), Catch::Contains("lost count at"));
  CHECK(fs::exists(folder / "run/checkpoints/checkpoint-30.safetensors"));
}

TEST_CASE("ranks with other options are refused before anything is written, by what differs", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  const Ends ends = start_on(3, folder / "run", uneven, {}, {{2, {{"stride", "5"}}}});
  CHECK(ends == Ends(3,
                     "all ranks of a run need the same options, data and program, but rank 2 has option stride "
                     "'5', and rank 0 '1'"));
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("what one rank cannot do ends all with its sentence", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  REQUIRE(start_on(1, folder / "run", uneven) == Ends{"finished"});
  for (const std::string& end : start_on(2, folder / "run", uneven)) CHECK_THAT(end, Catch::Contains("--overwrite"));
  for (const std::string& end : resume_on(3, folder / "run", {{"stride", "2"}}))
    CHECK_THAT(end, Catch::Contains("may change its steps and nothing else"));
}

TEST_CASE("an error of the summary, which the root makes alone, reaches the other ranks", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  test::in_summary = [](const Watch&) { fail(ErrorKind::data, "the numbers are gone"); };
  const Ends ends = start_on(3, folder / "run", uneven);
  test::in_summary = nullptr;
  CHECK(ends == Ends(3, "the numbers are gone"));
  CHECK(resume_on(2, folder / "run") == Ends(2, "finished"));
}

namespace {

/// Which seeds conclude while `work` is done, each as often as it does; `also` is done then too.
std::multiset<std::uint64_t> concluded_in(const std::function<void()>& work,
                                          const std::function<void(std::uint64_t, const StopToken&)>& also = nullptr) {
  std::multiset<std::uint64_t> seeds;
  std::mutex mutex;
  test::in_conclusion = [&](std::uint64_t seed, const StopToken& stop) {
    const std::scoped_lock lock(mutex);
    seeds.insert(seed);
    if (also) also(seed, stop);
  };
  work();
  test::in_conclusion = nullptr;
  return seeds;
}

}  // namespace

TEST_CASE("each repetition concludes once, and of what it kept nothing is left in the last checkpoint",
          "[runs][spread]") {
  const test::TemporaryDirectory folder;
  REQUIRE(start_on(1, folder / "one", uneven) == Ends{"finished"});
  const auto seeds = concluded_in([&] { CHECK(start_on(3, folder / "many", uneven) == Ends(3, "finished")); });
  CHECK(seeds == std::multiset<std::uint64_t>{2, 3, 4, 5, 6});
  CHECK(files_of_any_ranks(folder / "many") == files_of_any_ranks(folder / "one"));
}

TEST_CASE("a stop while repetitions conclude keeps what others have found", "[runs][spread]") {
  const test::TemporaryDirectory folder;
  REQUIRE(start_on(1, folder / "one", uneven) == Ends{"finished"});
  const auto start_on_own_stops = [&](const SessionOptions& shared) {
    SessionOptions own = shared;
    own.stop = StopToken();
    const test::CounterExperiment experiment(test::registered_counter(), {.preset = "", .settings = uneven});
    return runs::start_run(experiment, folder / "many", Existing::refuse, own).finished;
  };
  concluded_in([&] { CHECK(on_ranks(5, start_on_own_stops, {}) == Ends(5, "stopped")); },
               [](std::uint64_t seed, const StopToken& stop) {
                 if (seed == 4) stop.request_stop();
               });
  CHECK_FALSE(fs::exists(folder / "many/summary.json"));
  const int then = GENERATE(1, 2);  // one process asks nobody to conclude
  const auto seeds = concluded_in(
      [&] { CHECK(resume_on(then, folder / "many") == Ends(static_cast<std::size_t>(then), "finished")); });
  CHECK(seeds == (then == 1 ? std::multiset<std::uint64_t>{} : std::multiset<std::uint64_t>{4}));
  CHECK(files_of_any_ranks(folder / "many") == files_of_any_ranks(folder / "one"));
}

TEST_CASE("a repetition that turns out to have diverged where it concludes ends all with its sentence",
          "[runs][spread]") {
  const test::TemporaryDirectory folder;
  concluded_in(
      [&] {
        for (const std::string& end : start_on(3, folder / "run", uneven))
          CHECK_THAT(end, Catch::Contains("seed 3 is nowhere; the last finite state, after 10"));
      },
      [](std::uint64_t seed, const StopToken&) {
        if (seed == 3 || seed == 5) fail(ErrorKind::numeric, "seed {} is nowhere", seed);
      });
  CHECK_THAT(read_file(folder / "run/diverged.txt"), Catch::Contains("seed 3 is nowhere"));
}
