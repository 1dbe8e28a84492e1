// The temperature that a sampler keeps, against the exact law of its discretised chain.
#include <stein/inference/configurational_temperature.h>
#include <stein/inference/sgld.h>

#include <catch2/catch.hpp>

#include "inference/quadratic_chain.h"

using namespace stein;
using namespace stein::inference;

namespace {

ConfigurationalTemperature measure(double step_size, double temperature, std::int64_t steps) {
  constexpr std::int64_t rows = 16, size = 16;
  Sgld<double> sampler({.step = {.step_size = step_size}, .temperature = {.temperature = temperature}}, rows, size, 3);
  Quadratic<double> target(size, 1, 0);
  Particles<double> particles(target.layout(), rows);
  ConfigurationalTemperature meter(target.layout());
  for (int t = 0; t < 500; ++t) sampler.step(particles, target, {});
  sampler.observe_gradients([&](const Particles<double>& seen) { meter.add(seen.values(), seen.gradients()); });
  for (std::int64_t t = 0; t < steps; ++t) sampler.step(particles, target, {});
  return meter;
}

}  // namespace

TEST_CASE("the interval holds the temperature of the discretised chain", "[inference][diagnostics]") {
  for (const double h : {0.05, 0.5}) {
    const double law = 0.7 / (1 - h / 2);  // k Var φ of SGLD at T = 0.7
    const auto reading = measure(h, 0.7, 4000).readings().at(0);
    CAPTURE(h, reading.mean);
    CHECK(reading.low < law);
    CHECK(law < reading.high);
    CHECK(reading.high - reading.low < 0.05);
  }
}

TEST_CASE("a sampler off its temperature is warned of by number, one on it is not", "[inference][diagnostics]") {
  CHECK_FALSE(measure(0.05, 1, 4000).warning(1).has_value());
  const auto warning = measure(0.5, 1, 4000).warning(1);  // T/(1 − h/2) = 1.33
  REQUIRE(warning.has_value());
  CHECK_THAT(*warning, Catch::Contains("layer 0 runs at temperature 1.3") && Catch::Contains("not at 1"));
  CHECK_FALSE(measure(0.5, 1, 10).warning(1).has_value());  // too few steps to say
}

TEST_CASE("layers are told apart", "[inference][diagnostics]") {
  Layout layout;
  layout.add("a", {2}, Role::weight, 0), layout.add("b", {3}, Role::weight, 1), layout.add("c", {1}, Role::bias, 0);
  ConfigurationalTemperature meter(layout);
  const std::vector<double> x{1, 2, 1, 1, 1, 3}, g{-1, -1, -2, -2, -2, -1};
  for (int t = 0; t < 100; ++t) meter.add(MatrixView<const double>(x.data(), 1, 6), {g.data(), 1, 6});
  const auto readings = meter.readings();
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].mean == Approx((1 + 2 + 3) / 3.0));
  CHECK(readings[1].mean == Approx(2));
  CHECK(meter.steps() == 100);
}
