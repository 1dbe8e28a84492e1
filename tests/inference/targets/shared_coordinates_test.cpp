// Coordinates that particles have in common: they climb the mean gradient, the others their own.
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/function_target.h>
#include <stein/inference/targets/shared_coordinates.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace stein;
using namespace stein::inference;

namespace {

/// −½ (s − 2x)² − ½ (x − 1)².
double density(std::span<const double> at, std::span<double> gradient) {
  const double apart = at[0] - 2 * at[1], off = at[1] - 1;
  gradient[0] = -apart;
  gradient[1] = 2 * apart - off;
  return -0.5 * apart * apart - 0.5 * off * off;
}

constexpr double own[3]{-1, 0.5, 2};  ///< x of three particles, whose s is 0.25

struct Shared {
  FunctionTarget<double> function{{{"s"}, {"x"}}, density};
  SharedCoordinates<double> target{function, [](const LayoutEntry& entry) { return entry.name == "s"; }};
  Particles<double> particles{function.layout(), 3};

  Shared() {
    for (std::int64_t i = 0; i < 3; ++i) particles.values()(i, 0) = 0.25, particles.values()(i, 1) = own[i];
  }
};

/// ∂/∂s is 2x − s: its mean is 1 − 0.25; ∂/∂x is 2s − 4x − x + 1.
constexpr double mean_slope = 0.75;
double own_slope(std::int64_t i) {
  return 0.5 - 5 * own[i] + 1;
}

}  // namespace

TEST_CASE("in shared coordinates every particle has the mean gradient, in the others its own", "[inference][shared]") {
  Shared shared;
  std::vector<double> values(3);
  shared.target.evaluate(shared.particles.coordinates(), {}, {},
                         {.gradient = shared.particles.gradients(), .value = values});
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(shared.particles.gradients()(i, 0) == Approx(mean_slope));
    CHECK(shared.particles.gradients()(i, 1) == Approx(own_slope(i)));
    std::vector<double> unused(2);
    CHECK(values[static_cast<std::size_t>(i)] == density(shared.particles.values().row(i), unused));
  }
}

TEST_CASE("an optimizer moves shared coordinates as one row along the mean gradient, and particles stay together",
          "[inference][shared]") {
  for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::adam}) {
    Shared shared;
    Optimizer<double> optimizer({.method = method, .step = {.step_size = 0.1}}, shared.particles.ensemble(1));
    for (int step = 0; step < 300; ++step) {
      optimizer.step(shared.particles, shared.target, {});
      for (std::int64_t i = 1; i < 3; ++i)
        CHECK(shared.particles.values()(i, 0) == shared.particles.values()(0, 0));  // without being put together
    }
    // The maximum of the mean over particles: s = 2x = 2.
    CHECK(shared.particles.values()(0, 0) == Approx(2).epsilon(1e-3));
    CHECK(shared.particles.values()(2, 1) == Approx(1).epsilon(1e-3));
  }
}

TEST_CASE("SVGD sees no distance in shared coordinates, and the mean of its moves is what they make",
          "[inference][shared]") {
  Shared shared;
  constexpr double h = 3, step = 0.1;
  Svgd<double> svgd({.kernel = {.bandwidth_rule = Bandwidth::fixed, .bandwidth = h},
                     .optimizer = {.method = OptimizerMethod::sgd, .step = {.step_size = step}, .momentum = 0}},
                    shared.particles.ensemble(1));
  svgd.step(shared.particles, shared.target, {});
  shared.target.share(shared.particles.values());
  double moved = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    double direction = 0;
    for (std::int64_t j = 0; j < 3; ++j) {
      const double k = std::exp(-(own[i] - own[j]) * (own[i] - own[j]) / h);
      moved += step * k * mean_slope / 9;
      direction += (k * own_slope(j) + 2 / h * k * (own[i] - own[j])) / 3;
    }
    CHECK(shared.particles.values()(i, 1) == Approx(own[i] + step * direction));
  }
  for (std::int64_t i = 0; i < 3; ++i) CHECK(shared.particles.values()(i, 0) == Approx(0.25 + moved));
}

TEST_CASE("particles that agree keep their bits, and start at the first", "[inference][shared]") {
  Shared shared;
  for (std::int64_t i = 0; i < 3; ++i) shared.particles.values()(i, 0) = 0.1;
  shared.target.share(shared.particles.values());
  for (std::int64_t i = 0; i < 3; ++i) CHECK(shared.particles.values()(i, 0) == 0.1);
  for (std::int64_t i = 0; i < 3; ++i) shared.particles.values()(i, 0) = static_cast<double>(3 - i);
  shared.target.start(shared.particles.values());
  for (std::int64_t i = 0; i < 3; ++i) CHECK(shared.particles.values()(i, 0) == 3);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(shared.particles.values()(i, 1) == own[i]);
}
