// Fixed tasks on any number of threads.
#include <stein/core/error.h>
#include <stein/core/parallel.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error_matcher.h"

using namespace stein;

TEST_CASE("every task runs once, at any number of threads, nested or not", "[core][parallel]") {
  const int before = thread_count();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    std::vector<std::atomic<int>> runs(100 * 10);
    parallel_for(100, [&](std::int64_t i) { parallel_for(10, [&](std::int64_t j) { ++runs[i * 10 + j]; }); });
    for (const auto& count : runs) CHECK(count == 1);
  }
  set_thread_count(before);
}

TEST_CASE("tasks share the threads that they leave over", "[core][parallel]") {
  const int before = thread_count();
  set_thread_count(16);
  CHECK(available_threads() == 16);
  const auto least_inside = [](std::int64_t tasks) {
    std::atomic<int> least = 99;
    parallel_for(tasks, [&](std::int64_t) {
      const int here = available_threads();
      for (int seen = least; here < seen && !least.compare_exchange_weak(seen, here);) {
      }
    });
    return least.load();
  };
  CHECK(least_inside(5) == 4);
  CHECK(least_inside(10) == 2);
  CHECK(least_inside(16) == 1);
  CHECK(least_inside(40) == 1);
  set_thread_count(before);
}

TEST_CASE("blocks cover a range once and depend on the block size alone", "[core][parallel]") {
  for (const std::int64_t size : {0, 1, 9, 10, 11}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
    std::atomic<int> blocks = 0;
    parallel_blocks(size, 5, [&](std::int64_t begin, std::int64_t end) {
      ++blocks;
      CHECK(begin % 5 == 0);
      for (std::int64_t i = begin; i < end; ++i) ++seen[i];
    });
    CHECK(blocks == (size + 4) / 5);
    for (const auto& count : seen) CHECK(count == 1);
  }
}

TEST_CASE("an exception in a task reaches the caller", "[core][parallel]") {
  CHECK_THROWS_AS(parallel_for(50, [](std::int64_t i) { STEIN_CHECK(i != 17, "task {}", i); }), Error);
  int sum = 0;  // and the loop still works afterwards
  parallel_for(1, [&](std::int64_t) { ++sum; });
  CHECK(sum == 1);
}

TEST_CASE("of tasks that fail the lowest is told of, though a later one fails before it", "[core][parallel]") {
  const int before = thread_count();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    std::vector<std::atomic<int>> runs(50);
    const auto failing = [&] {
      parallel_for(50, [&](std::int64_t i) {
        ++runs[static_cast<std::size_t>(i)];
        if (i == 17) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        STEIN_CHECK(i < 17 || i % 2 == 0, "task {}", i);
      });
    };
    CHECK_ERROR(failing(), usage, "task 17");
    for (int i = 0; i <= 17; ++i) CHECK(runs[static_cast<std::size_t>(i)] == 1);
    const auto nested = [](std::int64_t i) {
      parallel_for(9, [&](std::int64_t j) { STEIN_CHECK(i < 2 || j < 5, "task {} of {}", j, i); });
    };
    CHECK_ERROR(parallel_for(6, nested), usage, "task 5 of 2");
  }
  set_thread_count(before);
}

TEST_CASE("an absurd number of threads is refused", "[core][parallel]") {
  CHECK_THROWS_AS(set_thread_count(0), Error);
  CHECK_THROWS_AS(set_thread_count(100000), Error);
}

TEST_CASE("denormal numbers are zeros inside of tasks, in every thread, and nowhere else", "[core][parallel]") {
  const auto half_of = [](float number) {
    volatile float value = number;
    value = value * 0.5f;
    return static_cast<float>(value);
  };
  constexpr float smallest = std::numeric_limits<float>::min(), denormal = smallest / 4;
  REQUIRE(half_of(smallest) > 0);
  const int before = thread_count();
  for (const int threads : {1, 4})
    for (const std::int64_t tasks : {1, 20}) {
      CAPTURE(threads, tasks);
      set_thread_count(threads);
      std::atomic<int> others = 0;
      parallel_for(tasks, [&](std::int64_t) {
        if (half_of(smallest) != 0) ++others;  // a result
        volatile float operand = denormal;
        if (operand * 0x1p24f != 0) ++others;
        parallel_for(3, [&](std::int64_t) { others += half_of(smallest) != 0; });
        if (half_of(smallest) != 0 || half_of(1) != 0.5f) ++others;  // after tasks of its own
      });
      CHECK(others == 0);
      CHECK(half_of(smallest) > 0);
      CHECK_THROWS(parallel_for(tasks, [](std::int64_t) { STEIN_CHECK(false, "a task"); }));
      CHECK(half_of(smallest) > 0);
    }
  set_thread_count(before);
}
