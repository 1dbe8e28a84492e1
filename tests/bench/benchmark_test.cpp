#include <stein/bench/benchmark.h>

#include <stein/bench/allocation_count.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::bench;

namespace {

void wait(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

TEST_CASE("two callables are measured side by side, in seconds a call", "[bench]") {
  int ours = 0, reference = 0;
  const Pair pair = measure_pair(
      [&] {
        ++ours;
        wait(std::chrono::microseconds(200));
      },
      [&] {
        ++reference;
        wait(std::chrono::microseconds(600));
      },
      {.rounds = 7, .round_seconds = 0.005, .warm_up_seconds = 0.005});
  CHECK(pair.ours >= 200e-6);
  CHECK(pair.reference >= 600e-6);
  CHECK(ours >= 7);  // a round is one call at least; how many fit depends on how busy the machine is
  CHECK(reference >= 7);
}

TEST_CASE("the ratio says how many times better ours is", "[bench]") {
  CHECK(Row{.name = "time", .ours = 2, .reference = 10, .unit = "µs"}.ratio() == 5);
  CHECK(Row{.name = "rate", .ours = 10, .reference = 2, .unit = "M/s", .better = Better::higher}.ratio() == 5);
}

TEST_CASE("fewer than seven rounds give no median worth reporting", "[bench]") {
  CHECK_ERROR(measure_pair([] {}, [] {}, {.rounds = 6}), usage, "7 rounds", "got 6");
}

TEST_CASE("allocations are counted only by a program whose operator new says so", "[bench]") {
  CHECK_FALSE(allocations_in([] {}).has_value());
}

TEST_CASE("a benchmark says what the machine lacks for it, and hides no other error", "[bench]") {
  Benchmark benchmark{.description = "", .cores = Cores::one};
  CHECK(benchmark.lacking().empty());
  benchmark.check_machine = [] { fail(ErrorKind::usage, "there is no GPU here"); };
  CHECK(benchmark.lacking() == "there is no GPU here");
  benchmark.check_machine = [] { fail(ErrorKind::io, "the GPU does not answer"); };
  CHECK_ERROR(benchmark.lacking(), io, "does not answer");
}
