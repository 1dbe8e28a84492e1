// The collapse meter on particles whose variance is known.
#include <stein/core/error.h>
#include <stein/core/rng.h>
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

TEST_CASE("the spread of shards put together is that of all particles", "[inference][diagnostics]") {
  Layout layout;
  layout.add("weight", {40}, Role::weight);
  Particles<float> particles(layout, 7);
  for (std::int64_t i = 0; i < 7; ++i)
    fill_normal(particles.values().row(i), {.seed = 2}, static_cast<std::uint32_t>(i));
  ParticleSpread first(particles.values().block(0, 3), layout, Role::weight);
  first.merge(ParticleSpread(particles.values().block(3, 4), layout, Role::weight));
  CHECK(first.mean_variance() == Approx(mean_variance(particles.values(), layout, Role::weight)).epsilon(1e-10));
}
