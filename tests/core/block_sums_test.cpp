// Sums over blocks: every item once, at most 64 blocks, the same bits at any number of threads.
#include <stein/core/block_sums.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace stein {
namespace {

TEST_CASE("a sum of blocks has every item once, in at most 64 blocks", "[core][block-sums]") {
  for (const std::int64_t size : {0, 1, 63, 64, 65, 641, 6'400, 100'003})
    for (const std::int64_t least : {1, 7, 8'192}) {
      CAPTURE(size, least);
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
      std::atomic<int> blocks = 0, odd = 0;
      const double sum = sum_of_blocks<double>(size, least, [&](std::int64_t begin, std::int64_t end) {
        ++blocks;
        odd += begin % least != 0;
        double part = 0;
        for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)], part += static_cast<double>(i);
        return part;
      });
      CHECK(blocks <= 64);
      CHECK(odd == 0);
      CHECK(sum == static_cast<double>(size) * static_cast<double>(size - 1) / 2);
      for (const std::atomic<int>& times : seen) REQUIRE(times == 1);
    }
}

TEST_CASE("a sum of blocks has the same bits at any number of threads", "[core][block-sums]") {
  const auto sum = [](int threads) {
    const int before = thread_count();
    set_thread_count(threads);
    const double found = sum_of_blocks<double>(100'003, 8, [](std::int64_t begin, std::int64_t end) {
      double part = 0;
      for (std::int64_t i = begin; i < end; ++i) part += std::sin(static_cast<double>(i));
      return part;
    });
    set_thread_count(before);
    return found;
  };
  CHECK(sum(1) == sum(2));
  CHECK(sum(1) == sum(7));
}

}  // namespace
}  // namespace stein
