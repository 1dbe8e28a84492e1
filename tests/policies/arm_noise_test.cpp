// The noise of arms from one-step-ahead residuals.
#include <stein/policies/arm_noise.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::policies;

TEST_CASE("the precision of an arm is the mean of its conjugate gamma posterior", "[policies][noise]") {
  ArmNoise noise({.noise_shape = 3, .noise_memory = 0}, 2, 4);  // b₀ = 3/4
  CHECK(noise.precision(0) == 4);
  noise.observe(1, 0.5);
  noise.observe(1, -1.5, 2);
  CHECK(noise.precision(0) == 4);
  CHECK(noise.precision(1) == Approx((3 + 1.5) / (0.75 + 0.5 * (0.25 + 2 * 2.25))));
}

TEST_CASE("an arm's old residuals count less with every new one of that arm", "[policies][noise]") {
  ArmNoise noise({.noise_shape = 1, .noise_memory = 10}, 2, 1);
  noise.observe(0, 3);
  noise.observe(1, 1);  // another arm's affair
  noise.observe(0, 0);
  const double left = std::exp(-0.1);
  CHECK(noise.precision(0) == Approx((1 + 0.5 * (1 + left)) / (1 + 0.5 * left * 9)));
}

TEST_CASE("the noise of arms goes on from where it was saved", "[policies][noise]") {
  ArmNoise first({}, 2, 4), second({}, 2, 4);
  first.observe(0, 2), first.observe(1, 3);
  Snapshot saved;
  first.save(saved);
  second.restore(saved);
  for (const std::int64_t arm : {0, 1}) CHECK(second.precision(arm) == first.precision(arm));
}
