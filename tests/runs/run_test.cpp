// Repetitions side by side: files in order, ends of their own, and state that can be taken up.
#include <stein/core/append_file.h>
#include <stein/core/jsonl_recorder.h>
#include <stein/core/parallel.h>
#include <stein/core/read_file.h>
#include <stein/runs/run.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using test::CounterRun;

namespace {

struct Trace {
  std::string metrics, lines;
};

/// Three counters with strides 1, 2 and 3 to 60 steps, saved and restored into a new run after each of `pauses`.
Trace trace(int threads, const std::vector<std::int64_t>& pauses) {
  const int before = thread_count();
  set_thread_count(threads);
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  {
    JsonlRecorder recorder(directory.metrics());
    SilentProgress progress;
    auto run = std::make_unique<CounterRun>(runs::SeedRange{0, 3}, 0, "lines.txt");
    run->open_logs(directory);
    for (const std::int64_t pause : pauses) {
      run->advance(pause, StopToken(), {recorder, progress});
      Snapshot state;
      run->save(state);
      run = std::make_unique<CounterRun>(runs::SeedRange{0, 3}, 0, "lines.txt");
      run->restore(state);
      run->open_logs(directory);
    }
    run->advance(60, StopToken(), {recorder, progress});
    run->record_rest({recorder, progress});
    recorder.flush();
  }
  set_thread_count(before);
  return {read_file(directory.metrics()), read_file(directory.file("lines.txt"))};
}

}  // namespace

TEST_CASE("metrics and lines are in order of steps and then of seeds, at any thread count and after any pause",
          "[runs][run]") {
  const Trace reference = trace(1, {});
  std::istringstream lines(reference.metrics);
  std::pair<std::int64_t, std::uint64_t> last{0, 0};
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto entry = nlohmann::json::parse(line);
    const std::pair<std::int64_t, std::uint64_t> place{entry["step"], entry["seed"]};
    REQUIRE(place > last);
    CHECK(entry["value"] == entry["step"]);
    last = place;
  }
  CHECK(count == 60 + 30 + 20);
  CHECK(reference.lines.starts_with("0:2\n0:4\n1:4\n0:6\n2:6\n0:8\n1:8\n"));
  const auto [threads, pauses] =
      GENERATE(table<int, std::vector<std::int64_t>>({{2, {}}, {4, {}}, {1, {1}}, {2, {5, 7, 31}}, {3, {59}}}));
  const Trace other = trace(threads, pauses);
  CHECK(other.metrics == reference.metrics);
  CHECK(other.lines == reference.lines);
}

TEST_CASE("what a killed run wrote behind its checkpoint is cut off", "[runs][run]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 1}, 0, "lines.txt");
  run.open_logs(directory);
  run.advance(4, StopToken(), {recorder, progress});
  Snapshot state;
  run.save(state);
  run.advance(8, StopToken(), {recorder, progress});
  run.record_rest({recorder, progress});
  CHECK(read_file(directory.file("lines.txt")) == "0:2\n0:4\n0:6\n0:8\n");
  CounterRun again({0, 1}, 0, "lines.txt");
  again.restore(state);
  again.open_logs(directory);
  CHECK(read_file(directory.file("lines.txt")) == "0:2\n0:4\n");
}

TEST_CASE("a repetition that ends by itself waits for nobody, and the run ends with the last", "[runs][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 3}, 12);
  CHECK_FALSE(run.ended());
  run.advance(7, StopToken(), {recorder, progress});
  CHECK(run.steps_done() == 7);
  run.advance(1000, StopToken(), {recorder, progress});
  CHECK(run.ended());
  CHECK(run.steps_done() == 12);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(run.repetition(i).steps_done() == 12);
}

TEST_CASE("a run that is asked to stop does not begin", "[runs][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 2}, 0);
  StopToken stop;
  stop.request_stop();
  run.advance(10, stop, {recorder, progress});
  CHECK(run.steps_done() == 0);
  CHECK_ERROR(CounterRun({3, 3}, 0), usage, "3:3");
}
