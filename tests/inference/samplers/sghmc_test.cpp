// The noise that SGHMC injects: what minibatches bring already is left out, at every step size.
#include <stein/inference/samplers/sghmc.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/ensemble_of.h"
#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

namespace {

struct Numbers : Sghmc<double> {
  using Sghmc::Sghmc;
  DiffusionNumbers at(std::int64_t t) const { return numbers(t, 0); }
};

SghmcOptions options_with(double variance) {
  return {.step = {.step_size = 0.1, .step_decay_steps = 10},
          .temperature = {.temperature = 2},
          .friction = 0.3,
          .gradient_variance = variance};
}

}  // namespace

TEST_CASE("the noise of minibatches that SGHMC leaves out follows the step size", "[inference][sghmc]") {
  const Numbers sampler(options_with(4), ensemble_of(1, 1, 0));
  for (const std::int64_t t : {0, 10, 1000}) {
    CAPTURE(t);
    const double eta = 0.1 / (1 + static_cast<double>(t) / 10);
    const double noise = sampler.at(t).noise;
    CHECK(noise * noise == Approx(2 * (0.3 * 2 - eta * 4 / 2) * eta).epsilon(1e-12));
    CHECK(sampler.at(t).drift == Approx(eta).epsilon(1e-12));
  }
}

TEST_CASE("the temperature of momenta is that at the step size which made them", "[inference][sghmc]") {
  Numbers sampler(options_with(0), ensemble_of(1, 1, 0));
  Quadratic<double> target(1, 1, 0);
  Particles<double> particles(target.layout(), 1);
  for (int t = 0; t < 3; ++t) {
    sampler.step(particles, target, {});
    CHECK(sampler.kinetic_scale() == Approx((1 - 0.3 / 2) * (1 + t / 10.0) / 0.1).epsilon(1e-12));
  }
}

TEST_CASE("more noise of minibatches than SGHMC injects is refused with both", "[inference][sghmc]") {
  CHECK_NOTHROW(Numbers(options_with(11.9), ensemble_of(1, 1, 0)));  // 0.1 · 12/2 = 0.3 · 2
  CHECK_ERROR(Numbers(options_with(12.1), ensemble_of(1, 1, 0)), usage, "αT ≥ ηV/2", "0.6", "at update 0");
}
