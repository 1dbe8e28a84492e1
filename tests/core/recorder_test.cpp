#include <stein/core/jsonl_recorder.h>
#include <stein/core/read_file.h>
#include <stein/core/tensorboard_recorder.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/error_matcher.h"
#include "core/python.h"
#include "core/temporary_directory.h"

namespace stein {
namespace {

TEST_CASE("metrics read back from JSON lines to the last bit, not-a-number as null", "[core][recorder]") {
  const test::TemporaryDirectory folder;
  const std::vector<double> values{0.1,        1.0 / 3, -0.0, 1e300,   std::numeric_limits<double>::denorm_min(),
                                   12345678.9, 5,       NAN,  INFINITY};
  JsonlRecorder recorder(folder / "metrics.jsonl");
  for (std::size_t i = 0; i < values.size(); ++i) recorder.scalar("a \"tag\"", 7, i, values[i]);
  recorder.flush();

  std::istringstream lines(read_file(folder / "metrics.jsonl"));
  std::string line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    REQUIRE(std::getline(lines, line));
    CAPTURE(line);
    const nlohmann::json entry = nlohmann::json::parse(line);
    CHECK(entry["tag"] == "a \"tag\"");
    CHECK(entry["seed"] == 7);
    CHECK(entry["step"] == i);
    if (!std::isfinite(values[i])) {
      CHECK(entry["value"].is_null());
      continue;
    }
    const double value = entry["value"].get<double>();
    CHECK(value == values[i]);
    CHECK(std::signbit(value) == std::signbit(values[i]));
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("metrics continue after a resume as if they had never stopped", "[core][recorder]") {
  const test::TemporaryDirectory folder;
  const auto record = [](JsonlRecorder& recorder, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step < last; ++step)
      recorder.scalar("regret", 0, step, 0.5 * static_cast<double>(step));
  };
  {
    JsonlRecorder uninterrupted(folder / "whole.jsonl");
    record(uninterrupted, 0, 200);
  }
  std::uint64_t checkpoint = 0;
  {
    JsonlRecorder interrupted(folder / "resumed.jsonl");
    record(interrupted, 0, 100);
    checkpoint = interrupted.sync();
    record(interrupted, 100, 150);
  }
  truncate_file(folder / "resumed.jsonl", checkpoint);
  {
    JsonlRecorder resumed(folder / "resumed.jsonl");
    record(resumed, 100, 200);
  }
  CHECK(read_file(folder / "resumed.jsonl") == read_file(folder / "whole.jsonl"));
}

TEST_CASE("recorders take numbers from several threads and in groups", "[core][recorder]") {
  const test::TemporaryDirectory folder;
  {
    RecorderGroup group;
    group.scalar("dropped", 0, 0, 0);
    group.add(std::make_unique<JsonlRecorder>(folder / "a.jsonl"));
    group.add(std::make_unique<JsonlRecorder>(folder / "b.jsonl"));
    const auto work = [&](std::uint64_t seed) {
      for (std::uint64_t step = 0; step < 1000; ++step) group.scalar("regret", seed, step, 1);
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
  }
  for (const char* name : {"a.jsonl", "b.jsonl"}) {
    std::istringstream lines(read_file(folder / name));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) REQUIRE(nlohmann::json::accept(line));
    CHECK(count == 2000);
  }
}

TEST_CASE("TensorBoard's own reader reads the events, also those of a resumed run", "[core][recorder][python]") {
  const auto python = test::python_with("tensorboard.backend.event_processing.event_accumulator");
  const test::TemporaryDirectory folder;
  {
    TensorBoardRecorder first(folder / "events");
    for (std::uint64_t step = 0; step < 8; ++step) first.scalar("regret", 3, step, 0.5 * static_cast<double>(step));
  }
  {
    TensorBoardRecorder resumed(folder / "events", 5);
    for (std::uint64_t step = 5; step < 10; ++step) resumed.scalar("regret", 3, step, 100 + static_cast<double>(step));
    resumed.scalar("loss", 0, 1'000'000'000'000, NAN);
  }
  REQUIRE(test::run_python(python, folder / "check.py", R"(
import math, os
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
def read(seed):
  events = EventAccumulator(os.path.dirname(__file__) + f'/events/seed_{seed}')
  events.Reload()
  return events
assert read(0).Tags()['scalars'] == ['loss'] and read(3).Tags()['scalars'] == ['regret']
regret = [(e.step, e.value) for e in read(3).Scalars('regret')]
assert regret == [(s, .5 * s if s < 5 else 100. + s) for s in range(10)], regret
loss, = read(0).Scalars('loss')
assert loss.step == 10**12 and math.isnan(loss.value), loss
)"));
}

TEST_CASE("any number of repetitions have their events, with no file left open", "[core][recorder]") {
  const test::TemporaryDirectory folder;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  TensorBoardRecorder recorder(folder / "events");
  for (std::uint64_t seed = 0; seed < 2000; ++seed) recorder.scalar("regret", seed, 1, 1);
  recorder.flush();
  CHECK(open_files() == before);
  for (const char* seed : {"seed_0", "seed_1999"})
    CHECK(std::filesystem::exists(folder / "events" / seed / "events.out.tfevents.0000000000.stein"));
}

TEST_CASE("events that cannot be written are an io error", "[core][recorder]") {
  CHECK_ERROR(TensorBoardRecorder("/proc/events"), io, "/proc/events");
}

}  // namespace
}  // namespace stein
