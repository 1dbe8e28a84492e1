#include <stein/core/median.h>

#include <catch2/catch.hpp>
#include <vector>

using namespace stein;

TEST_CASE("a median is the middle value, or the mean of the two in the middle", "[core]") {
  const auto median_of = [](std::vector<double> values) { return median(values); };
  CHECK(median_of({4}) == 4);
  CHECK(median_of({9, 1}) == 5);
  CHECK(median_of({7, -2, 100}) == 7);
  CHECK(median_of({8, 1, 2, 100}) == 5);
  CHECK(median_of({3, 3, 3, 1, 9, 3}) == 3);
}
