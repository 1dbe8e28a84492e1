// Runs read back for reports, and how runs that look alike are told apart.
#include <stein/core/atomic_file.h>
#include <stein/core/log.h>
#include <stein/core/read_file.h>
#include <stein/runs/run_record.h>
#include <stein/runs/start_run.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using runs::RunRecord;
using Json = nlohmann::ordered_json;

namespace {

RunDirectory make_run(const std::filesystem::path& root, std::int64_t stop_after = 0) {
  set_log_level(LogLevel::error);
  const test::CounterExperiment experiment(test::registered_counter(), {.settings = {{"seeds", "0:2"}}});
  static_cast<void>(runs::start_run(experiment, root, Existing::refuse, {.stop_after = stop_after, .quiet = true}));
  return RunDirectory::open(root);
}

RunRecord record_of(const std::string& task, const std::string& label, const std::string& directory,
                    const Json& options = Json::object()) {
  static const runs::RunKind kind = test::counter_kind();
  RunRecord record;
  record.kind = &kind;
  record.task = task;
  record.label = label;
  record.directory = directory;
  record.summary = {{"env", task}};
  record.manifest = {{"protocol", {{"env_options", options}}}};
  return record;
}

/// "task | label" of every record once they are told apart.
std::vector<std::string> names_of(std::vector<RunRecord> records) {
  runs::label_apart(records);
  std::vector<std::string> names;
  for (const RunRecord& record : records) names.push_back(record.task + " | " + record.label);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a finished run is read with its metrics by seed and its result files", "[runs][record]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = make_run(folder / "run");
  const RunRecord record = runs::read_run(directory);
  CHECK(record.kind->name == "counter");
  CHECK(record.task == "numbers");
  CHECK(record.label == "counter");
  CHECK(record.summary["steps"] == 10);
  CHECK(record.manifest["kind"] == "counter");
  CHECK_THAT(record.config, Catch::Contains("steps = 10"));
  CHECK(record.metrics.at("count").at(4) == std::map<std::uint64_t, double>{{0, 4}, {1, 4}});
  CHECK(record.metrics.at("count").at(5) == std::map<std::uint64_t, double>{{0, 5}});
  CHECK(record.files == std::map<std::string, std::string>{{"counted.txt", "before the summary"}});
  CHECK(record.json_file("none.json").is_null());
  CHECK_ERROR(record.json_file("counted.txt"), data, "'counted.txt'", "no JSON file");
}

/// As runs were before there were checksums.
void without_checksums(const RunDirectory& directory) {
  REQUIRE(std::filesystem::remove(directory.file("checksums.json")));
}

TEST_CASE("a result that was changed since the run wrote it is refused by name", "[runs][record]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = make_run(folder / "run");
  const std::string metrics = read_file(directory.metrics());
  write_file_atomically(directory.file("counted.txt"), "before the summarY");
  CHECK_ERROR(runs::read_run(directory), data, "counted.txt' is not as it was written", "checksums.json");
  write_file_atomically(directory.file("counted.txt"), "before the summary");
  write_file_atomically(directory.metrics(), metrics.substr(0, metrics.size() / 2));
  CHECK_ERROR(runs::read_run(directory), data, "metrics.jsonl' is not as it was written");
  write_file_atomically(directory.metrics(), metrics);
  CHECK_NOTHROW(runs::read_run(directory));
}

TEST_CASE("values that are not finite are in no curve", "[runs][record]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = make_run(folder / "run");
  without_checksums(directory);
  write_file_atomically(directory.metrics(),
                        "{\"tag\":\"a\",\"seed\":0,\"step\":1,\"value\":null}\n"
                        "{\"tag\":\"a\",\"seed\":0,\"step\":2,\"value\":0.5}\n");
  CHECK(runs::read_run(directory).metrics.at("a").size() == 1);
}

TEST_CASE("what is no finished run is refused with what to do", "[runs][record]") {
  const test::TemporaryDirectory folder;
  CHECK_ERROR(runs::read_run(make_run(folder / "short", 3)), data, "is not finished", "stein resume");
  const RunDirectory directory = make_run(folder / "run");
  const std::string summary = read_file(directory.summary());
  directory.write_summary("{\"steps\": 10");
  CHECK_ERROR(runs::read_run(directory), data, "summary.json' is no JSON object");
  directory.write_summary("{\"steps\": 10, \"seeds\": [0]}");
  CHECK_ERROR(runs::read_run(directory), data, "has no 'env'", "counter run");
  directory.write_summary(summary);
  without_checksums(directory);
  write_file_atomically(directory.metrics(), "{\"tag\":\"a\",\"seed\":0,\"step\":1,\"value\":1}\n{\"tag\":\"a\"}\n");
  CHECK_ERROR(runs::read_run(directory), data, "metrics.jsonl', line 2", "{\"tag\":\"a\"}");
  write_file_atomically(directory.metrics(), "{\"tag\":5,\"seed\":0,\"step\":1,\"value\":1}\n");
  CHECK_ERROR(runs::read_run(directory), data, "metrics.jsonl', line 1");
  write_file_atomically(directory.divergence(), "seed 0 lost count\n");
  CHECK_ERROR(runs::read_run(directory), data, "diverged", "seed 0 lost count");
}

TEST_CASE("of a run without a result there are the metrics so far, and why", "[runs][record]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = make_run(folder / "short", 3);
  write_file_atomically(directory.metrics(), read_file(directory.metrics()) + "{\"tag\":\"count\",\"step\":4,");
  const RunRecord record = runs::read_run_so_far(directory);
  CHECK_THAT(record.unfinished, Catch::Contains("is not finished") && Catch::Contains("stein resume"));
  CHECK(record.label == "short");
  CHECK(record.summary["steps"] == 3);
  CHECK(record.summary["seeds"] == Json({0, 1}));
  CHECK(record.metrics.at("count").at(2).size() == 2);
  CHECK_FALSE(record.metrics.at("count").contains(4));
  CHECK(record.files.empty());
  CHECK(runs::group_of(record)["unfinished"] == true);
  write_file_atomically(directory.divergence(), "seed 0 lost count\n");
  CHECK_THAT(runs::read_run_so_far(directory).unfinished, Catch::EndsWith("has no result: seed 0 lost count"));

  const RunRecord whole = runs::read_run_so_far(make_run(folder / "whole"));
  CHECK(whole.unfinished.empty());
  CHECK(whole.label == "counter");
}

TEST_CASE("tasks are told apart by those of their options that differ", "[runs][record]") {
  CHECK(names_of({record_of("wheel", "svgd", "1", {{"delta", "0.5"}, {"noise", "1"}}),
                  record_of("wheel", "svgd", "2", {{"delta", "0.9"}, {"noise", "1"}}),
                  record_of("mushroom", "svgd", "3", {{"noise", "2"}})}) ==
        Names{"wheel (delta=0.5) | svgd", "wheel (delta=0.9) | svgd", "mushroom | svgd"});
  CHECK(names_of({record_of("wheel", "svgd", "1", {{"delta", "0.5"}, {"noise", "1"}}),
                  record_of("wheel", "svgd", "2", {{"delta", "0.9"}, {"noise", "2"}})}) ==
        Names{"wheel (delta=0.5, noise=1) | svgd", "wheel (delta=0.9, noise=2) | svgd"});
}

TEST_CASE("runs of one task and one label are told apart by their directories", "[runs][record]") {
  CHECK(names_of({record_of("wheel", "svgd", "runs/a"), record_of("wheel", "greedy", "runs/b"),
                  record_of("wheel", "svgd", "runs/c"), record_of("mushroom", "svgd", "runs/d")}) ==
        Names{"wheel | svgd (a)", "wheel | greedy", "wheel | svgd (c)", "mushroom | svgd"});
  CHECK(names_of(
            {record_of("wheel", "svgd", "x/r"), record_of("wheel", "svgd", "y/r"), record_of("wheel", "svgd", "s")}) ==
        Names{"wheel | svgd (x/r)", "wheel | svgd (y/r)", "wheel | svgd (s)"});
}

TEST_CASE("records that are told apart stay so when others join them", "[runs][record]") {
  std::vector<RunRecord> records{record_of("wheel", "svgd", "a", {{"delta", "0.5"}}),
                                 record_of("wheel", "svgd", "b", {{"delta", "0.9"}})};
  runs::label_apart(records);
  records.push_back(record_of("wheel", "lints", "c", {{"delta", "0.5"}}));
  CHECK(names_of(records) ==
        Names{"wheel (delta=0.5) | svgd", "wheel (delta=0.9) | svgd", "wheel (delta=0.5) | lints"});
}

TEST_CASE("a summary of a wrong shape is a data error that names the file", "[runs][record]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = make_run(folder / "run");
  Json summary = Json::parse(read_file(directory.summary()));
  const auto [key, value] = GENERATE(table<std::string, std::string>(
      {{"env", "5"}, {"steps", "\"x\""}, {"seeds", "7"}, {"counts", "\"x\""}, {"counts", R"({"sd": 1})"}}));
  CAPTURE(key, value);
  summary[key] = Json::parse(value);
  directory.write_summary(summary.dump());
  CHECK_ERROR(runs::read_run(directory), data, "summary.json' is not the summary of a counter run");
}
