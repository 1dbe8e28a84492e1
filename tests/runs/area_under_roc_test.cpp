// The area under the receiver operating characteristic, by hand.
#include <stein/runs/area_under_roc.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/error_matcher.h"

namespace stein::runs {

TEST_CASE("the area counts pairs in order, and ties by half", "[runs][roc]") {
  const std::vector<double> lower{1, 3, 3}, higher{3, 4};
  // Pairs: 3 > 1, 3 = 3 twice; 4 > all three.
  CHECK(area_under_roc(lower, higher) == Approx((1 + 0.5 + 0.5 + 3) / 6));
  CHECK(area_under_roc(higher, lower) == Approx(1 - 5.0 / 6));
  CHECK(area_under_roc(lower, lower) == Approx(0.5));
  CHECK_ERROR(area_under_roc(lower, {}), usage, "3 and 0");
}

}  // namespace stein::runs
