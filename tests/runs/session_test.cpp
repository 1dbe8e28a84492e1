// Runs on disk from their first step to their summary: what is kept, taken up again, refused.
#include <stein/core/checkpoint.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/core/version.h>
#include <stein/runs/resume_run.h>
#include <stein/runs/run_cost.h>
#include <stein/runs/run_record.h>
#include <stein/runs/saved_run.h>
#include <stein/runs/start_run.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <map>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::SessionOptions;
using runs::SessionResult;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Settings = std::vector<std::pair<std::string, std::string>>;

SessionResult start(const fs::path& root, const Settings& settings, SessionOptions options = {},
                    const std::string& preset = "", Existing existing = Existing::refuse) {
  options.quiet = true;
  set_log_level(LogLevel::error);
  const test::CounterExperiment experiment(test::registered_counter(), {.preset = preset, .settings = settings});
  return runs::start_run(experiment, root, existing, options);
}

SessionResult resume(const fs::path& root, const Settings& settings = {}, SessionOptions options = {}) {
  options.quiet = true;
  return runs::resume_run(RunDirectory::open(root, Access::write), settings, options);
}

Json read_json(const fs::path& path) {
  return Json::parse(read_file(path));
}

void change_manifest(const fs::path& root, const std::string& key, const Json& value) {
  const RunDirectory directory = RunDirectory::open(root);
  Json manifest = read_json(directory.manifest());
  manifest[Json::json_pointer(key)] = value;
  directory.write_manifest(manifest.dump());
}

/// Whatever a run leaves that must not depend on where it was interrupted.
std::map<std::string, std::string> lasting_files(const fs::path& root) {
  const RunDirectory directory = RunDirectory::open(root);
  std::map<std::string, std::string> files;
  for (const fs::path& path :
       {directory.config(), directory.metrics(), directory.file("lines.txt"), directory.file("counted.txt")})
    files[path.filename().string()] = read_file(path);
  for (const auto& entry : fs::directory_iterator(directory.checkpoints()))
    files[entry.path().filename().string()] = read_file(entry.path());
  Json summary = read_json(directory.summary());
  for (const char* own : {"wall_seconds", "peak_memory_mb", "run_directory"}) summary.erase(own);
  files["summary.json"] = summary.dump();
  return files;
}

}  // namespace

TEST_CASE("a run takes all its steps, wherever its checkpoints lie", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const auto [steps, every] = GENERATE(table<std::string, std::string>({{"30", "29"}, {"30", "7"}, {"30", "500"}}));
  const SessionResult result = start(folder / "run", {{"steps", steps}, {"checkpoint_every", every}});
  CHECK(result.finished);
  CHECK(result.directory == folder / "run");
  CHECK(result.summary["counts"]["per_seed"] == Json{30.0});
  CHECK(result.summary == read_json(folder / "run/summary.json"));
}

TEST_CASE("the summary is written last, and says what every summary says", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const Json summary =
      start(folder / "run", {{"seeds", "2:4"}, {"end", "7"}, {"steps", "100"}, {"warns_at", "8"}}, {}, "paper").summary;
  CHECK(read_file(folder / "run/counted.txt") == "before the summary");
  CHECK(summary["name"] == "numbers/counter");
  CHECK(summary["kind"] == "counter");
  CHECK(summary["preset"] == "paper");
  CHECK(summary["steps"] == 100);
  CHECK(summary["seeds"] == Json{2, 3});
  CHECK(summary["steps_done"]["per_seed"] == Json{9.0, 8.0});  // they ended by themselves
  CHECK(summary["warnings"] == Json{"seed 2: counted to 9", "seed 3: counted to 8"});
  CHECK(summary["commit"] == commit());
  CHECK(summary["commits"] == Json{commit()});
  CHECK(summary["wall_seconds"].get<double>() > 0);
  CHECK(summary["peak_memory_mb"].get<double>() > 1);
  CHECK_FALSE(start(folder / "other", {}).summary.contains("preset"));
}

TEST_CASE("a warning of a repetition is in the log of the run", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"warns_at", "3"}});
  CHECK_THAT(read_file(folder / "run/log.txt"), Catch::Contains("seed 0: counted to 10"));
}

TEST_CASE("the manifest names kind, preset, files and data", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"seeds", "3:5"}}, {.data = "some/folder"}, "paper");
  const Json manifest = read_json(folder / "run/manifest.json");
  CHECK(manifest["command"] == "count");
  CHECK(manifest["kind"] == "counter");
  CHECK(manifest["preset"] == "paper");
  CHECK(manifest["seeds"] == Json{3, 5});
  CHECK(manifest["result_files"] == Json{"lines.txt", "counted.txt", "checksums.json"});
  CHECK(manifest["protocol"]["data_folder"] == fs::absolute("some/folder").string());
  CHECK(manifest["protocol"]["env"] == "numbers");
}

TEST_CASE("overwriting removes whatever runs of any kind leave", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {});
  write_file_atomically(folder / "run/mine.txt", "mine");
  CHECK_ERROR(start(folder / "run", {}), usage, "--overwrite");
  const SessionResult result =
      start(folder / "run", {{"steps", "20"}}, {.stop_after = 1}, "", Existing::overwrite);  // one step: no line yet
  CHECK_FALSE(result.finished);
  CHECK(read_file(folder / "run/lines.txt").empty());
  CHECK_FALSE(fs::exists(folder / "run/counted.txt"));
  CHECK_FALSE(fs::exists(folder / "run/summary.json"));
  CHECK_FALSE(fs::exists(folder / "run/checksums.json"));
  CHECK(read_file(folder / "run/mine.txt") == "mine");
}

TEST_CASE("overwriting removes the files of a run of another kind too", "[runs][session]") {
  static const bool registered = [] {
    runs::RunKind abacus = test::counter_kind();
    abacus.name = abacus.subcommand = "abacus";
    abacus.log_files = {"beads.txt"};
    return runs::register_run_kind(abacus);
  }();
  REQUIRE(registered);
  const test::TemporaryDirectory folder;
  start(folder / "run", {});
  write_file_atomically(folder / "run/beads.txt", "of a run of the other kind");
  start(folder / "run", {}, {}, "", Existing::overwrite);
  CHECK_FALSE(fs::exists(folder / "run/beads.txt"));
}

TEST_CASE("what a killed run recorded behind its checkpoint is cut off", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "whole", {{"steps", "20"}});
  start(folder / "run", {{"steps", "20"}}, {.stop_after = 7});
  const std::string metrics = read_file(folder / "run/metrics.jsonl");
  write_file_atomically(folder / "run/metrics.jsonl", metrics + "{\"tag\": \"count\", \"se");
  resume(folder / "run");
  CHECK(read_file(folder / "run/metrics.jsonl") == read_file(folder / "whole/metrics.jsonl"));
}

TEST_CASE("a run that was stopped and resumed leaves the bytes of one that was not", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const Settings settings{{"seeds", "0:3"}, {"steps", "40"}, {"checkpoint_every", "10"}};
  start(folder / "whole", settings);
  const std::int64_t first = GENERATE(1, 10, 17, 39);
  CHECK_FALSE(start(folder / "run", settings, {.stop_after = first}).finished);
  CHECK_FALSE(fs::exists(folder / "run/summary.json"));
  CHECK_FALSE(resume(folder / "run", {}, {.stop_after = std::min<std::int64_t>(first + 3, 39)}).finished);
  CHECK(resume(folder / "run").finished);
  auto whole = lasting_files(folder / "whole"), resumed = lasting_files(folder / "run");
  for (auto* files : {&whole, &resumed})  // of older checkpoints there may be others
    std::erase_if(*files, [](const auto& file) {
      return file.first.starts_with("checkpoint") && file.first.find("40") == std::string::npos;
    });
  CHECK(whole == resumed);
}

TEST_CASE("asked to stop while it sums up, a run has no result yet, and resuming gives it", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const Settings settings{{"seeds", "0:3"}};
  start(folder / "whole", settings);
  test::in_summary = [](const Watch& watch) { watch.stop().request_stop(); };
  const SessionResult stopped = start(folder / "run", settings);
  test::in_summary = nullptr;
  CHECK_FALSE(stopped.finished);
  CHECK_FALSE(fs::exists(folder / "run/summary.json"));
  CHECK_FALSE(fs::exists(folder / "run/counted.txt"));
  CHECK_THAT(read_file(folder / "run/log.txt"), Catch::Contains("stopped before the result was there, after 10 "));
  CHECK(resume(folder / "run").finished);
  CHECK(lasting_files(folder / "run") == lasting_files(folder / "whole"));
}

TEST_CASE("while it sums up, a run keeps what is done as often as it did before", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "whole", {});
  const fs::path last = folder / "run/checkpoints/checkpoint-10.safetensors";
  test::in_summary = [&](const Watch& watch) {
    REQUIRE(fs::remove(last));
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!fs::exists(last) && std::chrono::steady_clock::now() < deadline) watch.keep();
    CHECK(fs::remove(last));
  };
  CHECK(start(folder / "run", {}).finished);
  test::in_summary = nullptr;
  CHECK(lasting_files(folder / "run") == lasting_files(folder / "whole"));
}

TEST_CASE("asked to stop before it begins, a run does no step but can be resumed", "[runs][session]") {
  const test::TemporaryDirectory folder;
  SessionOptions options;
  options.stop.request_stop();
  CHECK_FALSE(start(folder / "run", {}, options).finished);
  CHECK(read_file(folder / "run/metrics.jsonl").empty());
  CHECK(resume(folder / "run").summary["counts"]["mean"] == 10.0);
}

TEST_CASE("while a run is made longer it has no result, and what it logged stays", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "whole", {{"steps", "20"}});
  start(folder / "run", {});
  CHECK_FALSE(resume(folder / "run", {{"steps", "20"}}, {.stop_after = 15}).finished);
  CHECK_FALSE(fs::exists(folder / "run/summary.json"));
  CHECK_FALSE(fs::exists(folder / "run/counted.txt"));
  CHECK(resume(folder / "run").summary["steps"] == 20);
  CHECK(read_file(folder / "run/metrics.jsonl") == read_file(folder / "whole/metrics.jsonl"));
  CHECK(read_file(folder / "run/lines.txt") == read_file(folder / "whole/lines.txt"));
}

TEST_CASE("a finished run stays as it is, and a damaged summary is written again", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const Json summary = start(folder / "run", {}).summary;
  const auto before = fs::last_write_time(folder / "run/metrics.jsonl");
  CHECK(resume(folder / "run").summary == summary);
  CHECK(fs::last_write_time(folder / "run/metrics.jsonl") == before);
  write_file_atomically(folder / "run/summary.json", GENERATE("{\"steps\": 10", "[10]", "{\"steps\": \"ten\"}"));
  CHECK(resume(folder / "run").summary["counts"] == summary["counts"]);
  CHECK(read_json(folder / "run/summary.json")["steps"] == 10);
}

TEST_CASE("a run is not made shorter than what any of its seeds has done", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"seeds", "0:3"}, {"steps", "100"}}, {.stop_after = 31});  // 31, 32, 33
  CHECK_ERROR(resume(folder / "run", {{"steps", "32"}}), usage, "has already done 33 numbers", "steps = 32");
  CHECK(resume(folder / "run", {{"steps", "33"}}).summary["counts"]["per_seed"] == Json{33.0, 34.0, 33.0});
}

TEST_CASE("strides beyond the planned end belong to the run, and fewer steps are refused for good", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"seeds", "6:7"}, {"steps", "10"}});  // 7, 14
  CHECK_ERROR(resume(folder / "run", {{"steps", "9"}}), usage, "has already done 14 numbers", "steps = 9");
  CHECK_ERROR(resume(folder / "run", {{"steps", "7"}}), usage, "has already done 14 numbers");
  const RunDirectory directory = RunDirectory::open(folder / "run");
  const std::string config = read_file(directory.config());
  std::string changed = config;
  directory.write_config(changed.replace(changed.find("steps = 10"), 10, "steps = 7"));  // by hand
  CHECK_ERROR(resume(folder / "run"), usage, "has already done 14 numbers");
  directory.write_config(config);
  CHECK(resume(folder / "run", {{"steps", "11"}}).summary["counts"]["per_seed"] == Json{14.0});
  CHECK(resume(folder / "run", {{"steps", "15"}}).summary["counts"]["per_seed"] == Json{21.0});
  CHECK_ERROR(resume(folder / "run", {{"steps", "14"}}), usage, "has already done 21 numbers");
}

TEST_CASE("a resumed run changes its steps and nothing else", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {}, {.stop_after = 3});
  CHECK_ERROR(resume(folder / "run", {{"seeds", "0:2"}}), usage, "steps and nothing else", "'seeds=0:2'");
  REQUIRE(resume(folder / "run").finished);
  const RunDirectory directory = RunDirectory::open(folder / "run");
  const std::string config = read_file(directory.config());
  std::string changed = config;
  directory.write_config(changed.replace(changed.find("stride = 1"), 10, "stride = 2"));
  CHECK_ERROR(resume(folder / "run"), usage, "config.toml' was changed", "`stride = 1`",
              "`stride = 2`");  // finished or not
  directory.write_config(config);
  fs::remove(directory.summary());
  change_manifest(folder / "run", "/protocol/edition", 2);
  CHECK_ERROR(resume(folder / "run"), data, "other numbers");
  const RunDirectory changed_directory = RunDirectory::open(folder / "run");
  CHECK_ERROR(runs::read_saved_run(changed_directory).make_run(), data, "other numbers");
}

TEST_CASE("data come from where the run began, or from where somebody says", "[runs][session]") {
  const test::TemporaryDirectory folder;
  CHECK_FALSE(start(folder / "run", {}, {.data = "here", .stop_after = 3}).finished);
  const RunDirectory directory = RunDirectory::open(folder / "run");
  const std::string here = fs::absolute("here").string();
  const auto from = [&](const std::string& data) {
    return runs::read_saved_run(directory).make_run(data)->summarize(StopToken())["from"];
  };
  CHECK(from("") == here);
  CHECK(from("there") == "there");
  CHECK(resume(folder / "run").summary["from"] == here);
  CHECK(resume(folder / "run", {{"steps", "12"}}, {.data = "there"}).summary["from"] == "there");
}

TEST_CASE("a run is loaded as its newest checkpoint left it", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"seeds", "0:2"}}, {.stop_after = 3});
  const RunDirectory directory = RunDirectory::open(folder / "run");
  const runs::SavedRun saved = runs::read_saved_run(directory);
  CHECK(saved.experiment->name() == "numbers/counter");
  CHECK(saved.manifest["kind"] == saved.experiment->kind().name);
  const std::unique_ptr<runs::Run> run = saved.make_run();
  CHECK(run->steps_done() == 3);
  CHECK(run->repetition(1).steps_done() == 4);
  Snapshot second;
  run->repetition(1).save(second);
  for (const auto& [name, array] : second.arrays()) CHECK(saved.repetition(1).arrays().at(name).bytes == array.bytes);
  fs::remove_all(directory.checkpoints());
  CHECK_ERROR(runs::read_saved_run(directory), data, "there is no checkpoint in");
}

TEST_CASE("a finished run that has lost its last checkpoint is not taken for what it was before", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const SessionResult whole = start(folder / "run", {{"seeds", "0:2"}, {"checkpoint_every", "4"}});
  REQUIRE(whole.finished);
  const std::string metrics = read_file(folder / "run/metrics.jsonl");
  const RunDirectory directory = RunDirectory::open(folder / "run");
  CHECK_NOTHROW(runs::read_saved_run(directory));
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(directory.checkpoints())) files.push_back(file.path());
  REQUIRE(files.size() == 2);
  const auto number = [](const fs::path& file) { return std::stoi(file.stem().string().substr(11)); };
  fs::remove(number(files[0]) > number(files[1]) ? files[0] : files[1]);
  CHECK_ERROR(runs::read_saved_run(directory), data, "was finished after", "missing or damaged", "stein resume");
  CHECK(resume(folder / "run").summary["counts"] == whole.summary["counts"]);  // and it is made again
  CHECK(read_file(directory.metrics()) == metrics);
  CHECK_NOTHROW(runs::read_saved_run(directory));
  fs::remove(directory.summary());
  CHECK_NOTHROW(runs::read_saved_run(directory));  // then it is one that goes on
}

TEST_CASE("TensorBoard learns where a run was taken up", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {}, {.stop_after = 5});
  resume(folder / "run");
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "run/events/seed_0")) files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE(files.size() == 2);
  // Event {step = 6 (field 2), session_log = {status = START} (field 7)}
  const std::string taken_up{'\x10', '\x06', '\x3a', '\x02', '\x08', '\x01'};
  CHECK_THAT(read_file(files[1]), Catch::Contains(taken_up));
  CHECK_THAT(read_file(files[0]), !Catch::Contains(std::string{'\x3a', '\x02', '\x08', '\x01'}));
}

TEST_CASE("a run that diverged says so, keeps its last finite state, and has no result", "[runs][session]") {
  const test::TemporaryDirectory folder;
  const Settings settings{{"steps", "30"}, {"checkpoint_every", "4"}, {"breaks_at", "15"}, {"seeds", "0:2"}};
  CHECK_ERROR(start(folder / "run", settings), numeric, "seed 1 lost count at 16", "after 12 numbers per seed");
  CHECK_THAT(read_file(folder / "run/diverged.txt"), Catch::StartsWith("seed 1 lost count at 16"));
  CHECK_FALSE(fs::exists(folder / "run/summary.json"));
  const RunDirectory directory = RunDirectory::open(folder / "run");
  CHECK(runs::read_saved_run(directory).make_run()->steps_done() == 12);
  CHECK_ERROR(runs::read_run(directory), data, "diverged and has no result: seed 1 lost count");
  CHECK_ERROR(resume(folder / "run"), numeric, "seed 1 lost count at 16");
  CHECK_THAT(read_file(folder / "run/log.txt"), Catch::Contains("diverged and will again"));
}

TEST_CASE("a run that goes on past where it once diverged is no longer said to have", "[runs][session]") {
  // As with a program that was mended since.
  const test::TemporaryDirectory folder;
  start(folder / "run", {{"steps", "20"}, {"checkpoint_every", "4"}}, {.stop_after = 8});
  write_file_atomically(folder / "run/diverged.txt", "seed 0 lost count at 9\n");
  CHECK(resume(folder / "run").finished);
  CHECK_FALSE(fs::exists(folder / "run/diverged.txt"));
}

TEST_CASE("programs that go on with a run are noted, each once", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {}, {.stop_after = 2});
  change_manifest(folder / "run", "/commit", "an earlier one");
  resume(folder / "run", {}, {.stop_after = 4});
  const Json summary = resume(folder / "run").summary;
  CHECK(summary["commits"] == Json{"an earlier one", commit()});
  CHECK(read_json(folder / "run/manifest.json")["later_commits"] == Json{commit()});
  CHECK_THAT(read_file(folder / "run/log.txt"), Catch::Contains("began with commit an earlier one"));
}

TEST_CASE("without a checkpoint a run begins again only if it did nothing yet", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {}, {.stop_after = 7});
  fs::remove_all(folder / "run/checkpoints");
  CHECK_ERROR(resume(folder / "run"), data, "there is no checkpoint", "stein count --config");
  fs::resize_file(folder / "run/metrics.jsonl", 0);
  CHECK(resume(folder / "run").summary["counts"]["mean"] == 10.0);
}

TEST_CASE("time and memory of all processes add up, and a damaged record of them stops nothing", "[runs][session]") {
  const test::TemporaryDirectory folder;
  start(folder / "run", {}, {.stop_after = 7});
  const fs::path cost = folder / "run/cost.json";
  runs::write_run_cost(cost, {.wall_seconds = 1000, .peak_memory_mb = 1e6});
  const Json summary = resume(folder / "run").summary;
  CHECK(summary["wall_seconds"].get<double>() > 1000);
  CHECK(summary["wall_seconds"].get<double>() < 1100);
  CHECK(summary["peak_memory_mb"] == 1e6);
  write_file_atomically(cost, "{\"wall_seconds\": \"long\"");
  CHECK(resume(folder / "run", {{"steps", "20"}}).summary["wall_seconds"].get<double>() < 100);
}
