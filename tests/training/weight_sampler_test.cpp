// What a method moves: rates and their units, temperature meters, starts, on a Gaussian whose gradients are known.
#include <stein/inference/parameterizations/softplus.h>
#include <stein/training/weight_sampler.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"
#include "training/mean_model.h"
#include "training/method_with.h"

namespace stein::training {
namespace {

using test::datum;
using test::MeanModel;
using test::Settings;

constexpr double N = 64, T = 4;  // data, and data of a sequence

WeightSampler sampler_of(WeightMethodOptions method, std::int64_t numbers = 1, std::uint64_t seed = 0) {
  return {method, std::make_unique<MeanModel>(numbers), {.size = N, .sequence = T, .minibatches = N}, seed};
}

WeightMethodOptions flat(const std::string& name, const Settings& settings) {
  WeightMethodOptions method = test::method_with(name, settings);
  method.posterior.flat_prior = true;
  return method;
}

/// Where one step from 0 leads with y = (3, 4): the gradient of the full log joint is N (3, 4), of length 5 N.
std::vector<float> first_step(const std::string& name, const Settings& settings) {
  WeightSampler weights = sampler_of(flat(name, settings));
  CHECK(weights.step(datum({3, 4}, N)).taken);
  CHECK(weights.last_log_likelihood() == Approx(-12.5));
  const auto row = weights.particles().values().row(0);
  return {row.begin(), row.end()};
}

TEST_CASE("a rate is that of the full log joint, of a datum's mean or of a sequence's sum", "[training][sampler]") {
  for (const char* name : {"sgd", "sgld"}) {
    CAPTURE(name);
    const auto step = [&](const char* unit, const char* clip) {
      Settings settings{{"step_size", "0.125"}, {"rate_unit", unit}, {"clip_norm", clip}};
      if (std::string(name) == "sgld") settings["temperature"] = "0";
      return first_step(name, settings);
    };
    CHECK(step("joint", "0") == std::vector<float>{0.125 * N * 3, 0.125 * N * 4});
    CHECK(step("datum", "0") == std::vector<float>{0.125 * 3, 0.125 * 4});
    CHECK(step("sequence", "0") == std::vector<float>{0.125 * T * 3, 0.125 * T * 4});
    // Limits are of the gradient in the same unit: 5 N, 5 and 5 T long. Half of that is half of the step.
    for (const auto& [unit, limit, rate] :
         {std::tuple("joint", 2.5 * N, N), std::tuple("datum", 2.5, 1.0), std::tuple("sequence", 2.5 * T, T)}) {
      CAPTURE(unit);
      const std::vector<float> clipped = step(unit, fmt::format("{}", limit).c_str());
      CHECK(clipped[0] == Approx(0.125 * rate * 1.5).epsilon(1e-6));
      CHECK(clipped[1] == Approx(0.125 * rate * 2).epsilon(1e-6));
    }
  }
}

TEST_CASE("a step that does not follow the gradient in proportion has the same size in every unit",
          "[training][sampler]") {
  for (const char* name : {"adam", "rmsprop"}) {
    CAPTURE(name);
    const std::vector<float> joint = first_step(name, {{"step_size", "0.125"}});
    for (const char* unit : {"datum", "sequence"})
      CHECK(first_step(name, {{"step_size", "0.125"}, {"rate_unit", unit}}) == joint);
  }
  CHECK(first_step("adam", {{"step_size", "0.125"}})[0] == Approx(0.125).epsilon(1e-5));  // its first step is h
}

TEST_CASE("pSGLD without noise goes as far as RMSprop of half its step size", "[training][sampler]") {
  const std::vector<float> chain =
      first_step("psgld", {{"step_size", "0.25"}, {"temperature", "0"}, {"square_decay", "0.9"}});
  const std::vector<float> optimizer = first_step("rmsprop", {{"step_size", "0.125"}, {"square_decay", "0.9"}});
  CHECK(optimizer[0] == Approx(0.125 / std::sqrt(0.1)).epsilon(1e-5));
  for (const std::size_t k : {0, 1}) CHECK(chain[k] == Approx(optimizer[k]).epsilon(1e-5));
}

TEST_CASE("the step size falls by what it is scaled with", "[training][sampler]") {
  WeightSampler weights = sampler_of(flat("sgd", {{"step_size", "0.5"}, {"rate_unit", "datum"}}));
  weights.step(datum({8, 0}, N));
  weights.scale_step_size(0.25);
  weights.step(datum({8, 0}, N));
  CHECK(weights.particles().values()(0, 0) == 4 + 0.125F * 4);
}

TEST_CASE("a chain's meter reads its temperature on every n-th step, layer by layer", "[training][sampler]") {
  WeightMethodOptions method =
      flat("sgld", {{"step_size", "0.001"}, {"temperature", "0.5"}, {"temperature_every", "2"}});
  WeightSampler weights = sampler_of(method);
  CHECK(weights.temperatures().empty());
  CHECK(weights.temperature() == 0.5);
  // ⟨φ ∇U⟩ with ∇U = N (φ − y), of the positions before steps 0, 2, 4, ….
  double recurrent = 0, output = 0;
  for (int t = 0; t < 11; ++t) {
    const double a = weights.particles().values()(0, 0), b = weights.particles().values()(0, 1);
    if (t % 2 == 0) recurrent += a * N * (a - 1) / 6, output += b * N * (b + 2) / 6;
    weights.step(datum({1, -2}, N));
  }
  const auto found = weights.temperatures();
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "recurrent0");
  CHECK(found[1].name == "output");
  CHECK(found[0].mean == Approx(recurrent).epsilon(1e-5));
  CHECK(found[1].mean == Approx(output).epsilon(1e-5));
  REQUIRE(weights.warnings().size() == 1);  // it begins far from its posterior
  CHECK_THAT(weights.warnings()[0], Catch::Contains("(no interval yet)"));
  method.temperature_every = 0;
  WeightSampler unwatched = sampler_of(method);
  unwatched.step(datum({1, -2}, N));
  CHECK(unwatched.temperatures().empty());
  CHECK(sampler_of(flat("sgd", {})).temperature() == 1);
}

TEST_CASE("a chain with a small step is at its temperature, and one with a large step is warned of",
          "[training][sampler]") {
  // SGLD on a Gaussian of curvature N has ⟨φ ∇U⟩ = T/(1 − hN/2) exactly: 1.026 T for hN = 0.05, 1.25 T for hN = 0.4. φ²
  // is correlated by (1 − hN)² from step to step, so 20 coordinates a layer over 20,000 steps give the mean with an
  // sd of at most √(2 · 19.5 / (20 · 20,000)) = 0.01 of itself: both are 7 sd or more from 1.1 T, where the warning
  // begins.
  const std::vector<float> y(40, 0.0F);
  for (const double decay : {0.05, 0.4}) {
    CAPTURE(decay);
    WeightSampler weights = sampler_of(
        flat("sgld", {{"step_size", fmt::format("{}", decay / N)}, {"temperature", "2"}, {"temperature_every", "1"}}),
        20, 3);
    for (int t = 0; t < 20'000; ++t) weights.step(datum(y, N));
    const double law = 2 / (1 - decay / 2);
    for (const auto& reading : weights.temperatures()) {
      CHECK(std::abs(reading.mean - law) < 6.1 * 0.01 * law);
      CHECK(reading.low < reading.mean);
    }
    CHECK(weights.warnings().size() == (decay > 0.1 ? 1 : 0));
  }
}

TEST_CASE("the meter does not read while a chain tunes itself", "[training][sampler]") {
  WeightSampler weights = sampler_of(flat("psgld", {{"preconditioner_warm_up", "3"}, {"temperature_every", "1"}}));
  for (int t = 0; t < 3; ++t) weights.step(datum({1, -2}, N));
  CHECK(weights.temperatures().empty());
  weights.step(datum({1, -2}, N));
  CHECK(weights.temperatures().size() == 2);
}

TEST_CASE("chains of different seeds have noise of their own", "[training][sampler]") {
  const auto first = [](std::uint64_t seed) {
    WeightSampler weights = sampler_of(flat("sgld", {{"temperature", "1"}}), 1, seed);
    weights.step(datum({0, 0}, N));
    return weights.particles().values()(0, 0);
  };
  CHECK(first(1) == first(1));
  CHECK(first(1) != first(2));
}

TEST_CASE("the published objective of sharpening counts the minibatches of an epoch", "[training][sampler]") {
  const auto moved = [](const char* objective, double minibatches) {
    WeightSampler weights(
        test::method_with(
            "sharpening",
            {{"optimizer", "sgd"}, {"step_size", "1e-4"}, {"prior", "gaussian"}, {"sharpening_objective", objective}}),
        std::make_unique<MeanModel>(1), {.size = N, .sequence = T, .minibatches = minibatches}, 0);
    weights.step(datum({3, 4}, N));
    const auto row = weights.particles().values().row(0);
    return std::vector<float>(row.begin(), row.end());
  };
  CHECK(moved("as_published", 1) == moved("full_joint", 1));
  CHECK(moved("full_joint", 16) == moved("full_joint", 1));
  CHECK(moved("as_published", 16) != moved("full_joint", 16));
}

TEST_CASE("the temperature is the one that the last step was asked for", "[training][sampler]") {
  WeightSampler weights =
      sampler_of(flat("sgld", {{"temperature", "8"}, {"temperature_decay", "0.5"}, {"temperature_decay_steps", "2"}}));
  for (const double expected : {8.0, 8.0, 4.0, 4.0, 2.0}) {
    weights.step(datum({0, 0}, N));
    CHECK(weights.temperature() == expected);
  }
  // The first half of every cycle has no noise, and no temperature.
  WeightSampler cycles =
      sampler_of(flat("sgld", {{"temperature", "8"}, {"cycle_steps", "4"}, {"exploration_share", "0.5"}}));
  for (int t = 0; t < 7; ++t) {
    CHECK(cycles.temperature() == 8);
    cycles.step(datum({0, 0}, N));
  }
  // A cycle of one step has noise in none.
  CHECK(sampler_of(flat("sgld", {{"temperature", "8"}, {"cycle_steps", "1"}})).temperature() == 8);
}

TEST_CASE("a chain that goes back forgets what its meter read, halves its step and says so", "[training][sampler]") {
  WeightSampler weights =
      sampler_of(flat("sgld", {{"step_size", "0.0078125"}, {"temperature", "0"}, {"temperature_every", "1"}}));
  weights.step(datum({1, 1}, N));  // h N = ½
  CHECK(weights.particles().values()(0, 0) == 0.5F);
  CHECK(weights.temperatures().size() == 2);
  const inference::StepReport report = weights.step(datum({std::numeric_limits<float>::quiet_NaN(), 1}, N));
  CHECK(report.went_back);
  CHECK_FALSE(report.taken);
  CHECK(weights.particles().values()(0, 0) == 0);
  CHECK(weights.temperatures().empty());
  REQUIRE(weights.warnings().size() == 1);
  weights.step(datum({1, 1}, N));
  CHECK(weights.particles().values()(0, 0) == 0.25F);
}

TEST_CASE("the Gaussians of weights that are not recurrent start wider", "[training][sampler]") {
  const auto deviations = [](const char* factor) {
    WeightSampler weights = sampler_of(test::method_with("bbb", {{"outer_deviation", factor}}), 3);
    std::vector<double> found;
    for (const char* name : {"recurrent0.weight", "output.weight"}) {
      const inference::LayoutEntry& entry = weights.particles().layout().at(std::string(name) + ".log_deviation");
      for (std::int64_t k = 0; k < 3; ++k)
        found.push_back(inference::softplus(double{weights.particles().values()(0, entry.offset + k)}));
    }
    return found;
  };
  const std::vector<double> plain = deviations("1"), wide = deviations("3");
  for (std::size_t k = 0; k < 6; ++k) CHECK(wide[k] == Approx((k < 3 ? 1 : 3) * plain[k]).epsilon(1e-5));
}

TEST_CASE("the divergence of a mean-field Gaussian from its prior is that of its weights, one by one",
          "[training][sampler]") {
  constexpr double precision = 4;
  WeightSampler bayes = sampler_of(test::method_with("bbb", {{"prior", "gaussian"}, {"weight_precision", "4"}}), 3);
  inference::Particles<float>& particles = bayes.particles();
  double expected = 0;  // ½ (λ (σ² + μ²) − 1 − log λ σ²) each
  for (const inference::LayoutEntry& entry : particles.layout().entries()) {
    if (entry.role == inference::Role::log_deviation) continue;
    const std::int64_t rho = particles.layout().at(entry.name + ".log_deviation").offset;
    for (std::int64_t k = 0; k < entry.size(); ++k) {
      particles.values()(0, entry.offset + k) = 0.3F * static_cast<float>(k + 1);
      const double mean = 0.3 * static_cast<double>(k + 1),
                   square = std::pow(inference::softplus(double{particles.values()(0, rho + k)}), 2);
      expected += (precision * (square + mean * mean) - 1 - std::log(precision * square)) / 2;
    }
  }
  CHECK(bayes.divergence({.seed = 1}) == Approx(expected).epsilon(1e-5));
  CHECK(bayes.divergence({.seed = 2}) == bayes.divergence({.seed = 1}));
  WeightSampler mixture = sampler_of(test::method_with("bbb", {}), 3);
  CHECK(mixture.divergence({.seed = 2}) != mixture.divergence({.seed = 1}));  // by one draw
  CHECK_ERROR(sampler_of(flat("sgd", {})).divergence({}), usage, "only a variational method has a divergence");
}

TEST_CASE("only a variational method has a mean, and its rows of weights are those of a step", "[training][sampler]") {
  inference::Matrix<float> memory;
  WeightSampler plain = sampler_of(flat("sgd", {}));
  CHECK_ERROR(plain.mean_weights(memory), usage, "only a variational method has a mean");
  CHECK(plain.weight_rows() == 1);
  CHECK(plain.weight_count() == 2);
  CHECK(sampler_of(test::method_with("bbb", {{"weight_samples", "5"}})).weight_rows() == 5);
  CHECK(sampler_of(test::method_with("svgd", {{"particles", "7"}})).weight_rows() == 7);
  WeightSampler bayes = sampler_of(test::method_with("bbb", {}));
  bayes.particles().values()(0, bayes.particles().layout().at("output.weight").offset) = 2.5F;
  CHECK(bayes.mean_weights(memory)(0, 1) == 2.5F);
}

}  // namespace
}  // namespace stein::training
