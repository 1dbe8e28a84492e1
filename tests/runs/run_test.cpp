// Repetitions side by side: files in order, ends of their own, and state that can be taken up.
#include <stein/core/append_file.h>
#include <stein/core/jsonl_recorder.h>
#include <stein/core/parallel.h>
#include <stein/core/read_file.h>
#include <stein/runs/run.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "runs/toy_experiment.h"

using namespace stein;
using test::Counter;
using test::CounterRun;

namespace {

struct Trace {
  std::string metrics, lines;
};

/// Three counters with strides 1, 2 and 3 to 60 steps, so many strides at once, saved and restored into a new run after
/// each of `pauses`.
Trace trace(int threads, std::int64_t strides_at_once, const std::vector<std::int64_t>& pauses) {
  const test::CounterOptions options{.strides_at_once = strides_at_once};
  const int before = thread_count();
  set_thread_count(threads);
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  {
    JsonlRecorder recorder(directory.metrics());
    SilentProgress progress;
    auto run = std::make_unique<CounterRun>(runs::SeedRange{0, 3}, options, "lines.txt");
    run->open_logs(directory);
    for (const std::int64_t pause : pauses) {
      run->advance(pause, StopToken(), {recorder, progress});
      Snapshot state;
      run->save(state);
      run = std::make_unique<CounterRun>(runs::SeedRange{0, 3}, options, "lines.txt");
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

/// A run that says nothing of itself.
template <class R>
class BareRun final : public runs::RunOf<R> {
 public:
  using runs::RunOf<R>::RunOf;
  std::string source() const override { return ""; }
  nlohmann::ordered_json protocol() const override { return {}; }
  nlohmann::ordered_json summarize(const Watch&) override { return {}; }
};

}  // namespace

TEST_CASE("metrics and lines are in order of steps and then of seeds, at any thread count and after any pause",
          "[runs][run]") {
  const Trace reference = trace(1, 1, {});
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
  const auto [threads, strides, pauses] = GENERATE(table<int, std::int64_t, std::vector<std::int64_t>>(
      {{2, 1, {}}, {4, 1, {}}, {1, 1, {1}}, {2, 1, {5, 7, 31}}, {3, 1, {59}}, {1, 7, {}}, {2, 7, {13, 40}}}));
  const Trace other = trace(threads, strides, pauses);
  CHECK(other.metrics == reference.metrics);
  CHECK(other.lines == reference.lines);
}

TEST_CASE("what a killed run wrote behind its checkpoint is cut off", "[runs][run]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 1}, {}, "lines.txt");
  run.open_logs(directory);
  run.advance(4, StopToken(), {recorder, progress});
  Snapshot state;
  run.save(state);
  run.advance(8, StopToken(), {recorder, progress});
  run.record_rest({recorder, progress});
  CHECK(read_file(directory.file("lines.txt")) == "0:2\n0:4\n0:6\n0:8\n");
  CounterRun again({0, 1}, {}, "lines.txt");
  again.restore(state);
  again.open_logs(directory);
  CHECK(read_file(directory.file("lines.txt")) == "0:2\n0:4\n");
}

TEST_CASE("a repetition that ends by itself waits for nobody, and the run ends with the last", "[runs][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 3}, {.end = 12});
  CHECK_FALSE(run.ended());
  run.advance(7, StopToken(), {recorder, progress});
  CHECK(run.steps_done() == 7);
  run.advance(11, StopToken(), {recorder, progress});
  CHECK(run.repetition(2).ended());
  CHECK(run.steps_done() == 11);  // of those that have not ended
  CHECK_FALSE(run.ended());
  run.advance(1000, StopToken(), {recorder, progress});
  CHECK(run.ended());
  CHECK(run.steps_done() == 12);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(run.repetition(i).steps_done() == 12);
}

TEST_CASE("steps done are those of repetitions that go on, however early others ended", "[runs][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  BareRun<Counter> run({0, 2}, [](std::uint64_t seed) {  // seed 0 ends at 5, seed 1 at 20
    return std::make_unique<Counter>(seed, test::CounterOptions{.end = seed == 0 ? 5 : 20});
  });
  run.advance(5, StopToken(), {recorder, progress});
  CHECK(run.repetition(0).ended());
  CHECK(run.steps_done() == 6);
}

TEST_CASE("a repetition that has done enough waits for the others", "[runs][run]") {
  /// Takes a stride of its seed + 1 whenever it is asked to.
  class Eager final : public runs::Repetition {
   public:
    explicit Eager(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t seed() const override { return seed_; }
    std::int64_t steps_done() const override { return steps_; }
    void advance(std::int64_t, const StopToken&, runs::Records&) override {
      steps_ += static_cast<std::int64_t>(seed_) + 1;
    }
    void save(Snapshot&) const override {}
    void restore(const Snapshot&) override {}

   private:
    std::uint64_t seed_;
    std::int64_t steps_ = 0;
  };
  RecorderGroup recorder;
  SilentProgress progress;
  BareRun<Eager> run({0, 2}, [](std::uint64_t seed) { return std::make_unique<Eager>(seed); });
  run.advance(5, StopToken(), {recorder, progress});
  CHECK(run.repetition(0).steps_done() == 5);
  CHECK(run.repetition(1).steps_done() == 6);
}

TEST_CASE("a run that is asked to stop does not begin", "[runs][run]") {
  RecorderGroup recorder;
  SilentProgress progress;
  CounterRun run({0, 2});
  StopToken stop;
  stop.request_stop();
  run.advance(10, stop, {recorder, progress});
  CHECK(run.steps_done() == 0);
  CHECK_ERROR(CounterRun({3, 3}), usage, "3:3");
}

TEST_CASE("of repetitions that diverge at once the first by its seed is told, whatever the threads", "[runs][run]") {
  /// Diverges in its first stride, later the smaller its seed is.
  class Diverging final : public runs::Repetition {
   public:
    explicit Diverging(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t seed() const override { return seed_; }
    std::int64_t steps_done() const override { return 0; }
    void advance(std::int64_t, const StopToken&, runs::Records&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(seed_ == 5 ? 50 : 0));
      fail(ErrorKind::numeric, "seed {} diverged", seed_);
    }
    void save(Snapshot&) const override {}
    void restore(const Snapshot&) override {}

   private:
    std::uint64_t seed_;
  };
  const int before = thread_count();
  set_thread_count(GENERATE(1, 2, 3));
  RecorderGroup recorder;
  SilentProgress progress;
  BareRun<Diverging> run({5, 8}, [](std::uint64_t seed) { return std::make_unique<Diverging>(seed); });
  CHECK_ERROR(run.advance(1, StopToken(), {recorder, progress}), numeric, "seed 5 diverged");
  set_thread_count(before);
}

TEST_CASE("what repetitions that ran ahead have recorded waits for the others, and is written at the end",
          "[runs][run]") {
  const test::TemporaryDirectory folder;
  const RunDirectory directory = RunDirectory::create(folder / "run");
  JsonlRecorder recorder(directory.metrics());
  SilentProgress progress;
  CounterRun run({0, 2}, {.strides_at_once = 10}, "lines.txt");
  run.open_logs(directory);
  run.advance(5, StopToken(), {recorder, progress});
  REQUIRE(run.repetition(1).steps_done() == 6);
  const auto written = [&] {
    recorder.flush();
    const std::string text = read_file(directory.metrics());
    return std::ranges::count(text, '\n');
  };
  CHECK(written() == 5 + 2);  // 6 of seed 1 waits
  run.record_rest({recorder, progress});
  CHECK(written() == 5 + 3);
  CHECK(read_file(directory.file("lines.txt")) == "0:2\n0:4\n1:4\n");  // flushed
}
