// The collapse meter on particles whose variance is known.
#include <stein/core/error.h>
#include <stein/inference/diagnostics/collapse_meter.h>
#include <stein/inference/particles.h>

#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::inference;

TEST_CASE("the spread is the variance over particles, averaged over the coordinates of a role",
          "[inference][collapse]") {
  Layout layout;
  layout.add("w", {2}, Role::weight);
  layout.add("b", {1}, Role::bias);
  Particles<float> particles(layout, 2);
  // w: 1000 ± 1 and ± 3 about 5: variances with 1/M are 1 and 9, their mean 5; the bias does not count.
  particles.values()(0, 0) = 999, particles.values()(1, 0) = 1001;
  particles.values()(0, 1) = 2, particles.values()(1, 1) = 8;
  particles.values()(0, 2) = -50, particles.values()(1, 2) = 50;
  CHECK(mean_variance(particles.values(), layout, Role::weight) == Approx(5));
  CHECK_THROWS_AS(mean_variance(particles.values(), layout, Role::log_scale), Error);
}
