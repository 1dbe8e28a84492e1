// A prior stated by functions: whatever the network and the form of its weights, outputs have the sd that is asked for.
#include <stein/core/rng.h>
#include <stein/inference/targets/network_posterior.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t draws = 20'000;

/// The mean square of an output over draws from the prior, at one input.
double mean_square(const NetworkPosteriorOptions& options, const MlpSpec& network, const Inputs<float>& input) {
  const auto posterior = make_network_posterior(options, network);
  Particles<float> particles = posterior->initial_particles(draws, 3, 1);
  draw_from_prior(gaussian_prior_of(options, network), particles, {.seed = 3, .stream = Stream::initial_values});
  Matrix<float> weights(draws, posterior->weight_layout().size());
  posterior->effective_weights(particles.coordinates(), {.seed = 3}, weights.view());
  std::vector<float> outputs(static_cast<std::size_t>(draws * network.outputs));
  posterior->model().predict({std::as_const(weights).view(), 0}, input, {outputs.data(), draws, network.outputs});
  double sum = 0;
  for (std::int64_t i = 0; i < draws; ++i) sum += std::pow(double{outputs[i * network.outputs]}, 2);
  return sum / static_cast<double>(draws);
}

}  // namespace

TEST_CASE("outputs of networks drawn from a prior stated by functions have its sd", "[inference][prior]") {
  const std::vector<float> dense{1, -1, 2, 0, 1, -1};  // mean square 8/6: the first layer sees more than it counts on
  const std::vector<std::int32_t> ones{0, 4};
  const double share = 0.2;
  for (const auto& hidden : {std::vector<std::int64_t>{}, {20}, {20, 20}})
    for (const bool one_hot : {false, true}) {
      CAPTURE(hidden.size(), one_hot);
      NetworkPosteriorOptions options{.prior_scale = PriorScale::functions,
                                      .functions = {.function_deviation = 3, .bias_share = share}};
      const MlpSpec network{.inputs = 6, .hidden = hidden, .outputs = 2, .active_inputs = one_hot ? 2 : 0};
      Inputs<float> input;
      if (one_hot)
        input.ones = {ones.data(), 1, 2};
      else
        input.dense = {dense.data(), 1, 6};
      // Each layer passes on 1 − β of the variance of the one before it, and adds β: of ReLU exactly.
      double expected = one_hot ? 1 : (1 - share) * 8 / 6 + share;
      for (std::size_t layer = 0; layer < hidden.size(); ++layer) expected = (1 - share) * expected + share;
      expected *= 9;
      // Kurtosis of an output of two narrow layers is below 12: sd of the mean square √11/√20,000 = 0.024 of it.
      CHECK(mean_square(options, network, input) == Approx(expected).epsilon(0.13));
    }
}

TEST_CASE("behind tanh, one hidden layer keeps the sd too", "[inference][prior]") {
  const std::vector<float> dense{1, -1, 1, -1};
  const NetworkPosteriorOptions options{.prior_scale = PriorScale::functions, .functions = {.function_deviation = 0.5}};
  const MlpSpec network{.inputs = 4, .hidden = {30}, .outputs = 1, .activation = Activation::tanh};
  Inputs<float> input;
  input.dense = {dense.data(), 1, 4};
  CHECK(mean_square(options, network, input) == Approx(0.25).epsilon(0.06));
}

TEST_CASE("the factors of structured weights have a product of the variance that is stated", "[inference][prior]") {
  const std::vector<float> dense{1, -1, 1, -1};
  NetworkPosteriorOptions options{.parameterization = WeightForm::matrix_gaussian,
                                  .structure = {.reflectors = 2},
                                  .prior_scale = PriorScale::functions};
  const MlpSpec network{.inputs = 4, .hidden = {8}, .outputs = 3};
  Inputs<float> input;
  input.dense = {dense.data(), 1, 4};
  for (const double deviation : {0.1, 0.3}) {
    options.prior.scale_deviation = deviation;
    CHECK(mean_square(options, network, input) == Approx(1).epsilon(0.13));
  }
}

TEST_CASE("whatever the form of the weights, what is stated by functions is the prior of their means",
          "[inference][prior]") {
  const WeightForm form = GENERATE(WeightForm::direct, WeightForm::mean_field, WeightForm::variational_matrix_gaussian,
                                   WeightForm::dropout);
  CAPTURE(static_cast<int>(form));
  const NetworkPosteriorOptions options{.parameterization = form,
                                        .prior_law = PriorLaw::gaussian,
                                        .prior_scale = PriorScale::functions,
                                        .functions = {.function_deviation = 3, .bias_share = 0.2}};
  const auto posterior = make_network_posterior(options, MlpSpec{.inputs = 4, .hidden = {8}, .outputs = 3});
  Particles<float> particles = posterior->initial_particles(1, 3, 1);
  // Variances (1 − β)/4 in the first layer, and 9 (1 − β) · 2/8 behind ReLU.
  const std::map<std::string, double> precisions{{"layer0.weight", 4 / 0.8}, {"layer1.weight", 8 / (9 * 0.8 * 2)}};
  for (const auto& [name, precision] : precisions) {
    CAPTURE(name);
    const auto value_at = [&](float mean) {
      double value = 0;
      particles.view(name, 0)(1, 2) = mean;
      posterior->evaluate_prior(particles.coordinates(), {.seed = 3}, {&value, 1});
      return value;
    };
    CHECK(value_at(1) - value_at(3) == Approx(precision / 2 * (9 - 1)).epsilon(1e-4));
  }
}

TEST_CASE("a draw from the prior leaves the deviations of a family as narrow as they begin", "[inference][prior]") {
  const WeightForm form = GENERATE(WeightForm::mean_field, WeightForm::variational_matrix_gaussian);
  const NetworkPosteriorOptions options{
      .parameterization = form, .prior_law = PriorLaw::gaussian, .prior_scale = PriorScale::functions};
  const MlpSpec network{.inputs = 4, .hidden = {8}, .outputs = 3};
  const auto posterior = make_network_posterior(options, network);
  const Particles<float> start = posterior->initial_particles(1, 3, 1);
  Particles<float> drawn = start;
  draw_from_prior(gaussian_prior_of(options, network), drawn, {.seed = 3, .stream = Stream::initial_values});
  for (const LayoutEntry& entry : start.layout().entries()) {
    CAPTURE(entry.name);
    const auto numbers_of = [&](const Particles<float>& particles) {
      return particles.values().row(0).subspan(static_cast<std::size_t>(entry.offset),
                                               static_cast<std::size_t>(entry.size()));
    };
    const bool is_mean = entry.name.find(".log_") == std::string::npos;
    CHECK(std::ranges::equal(numbers_of(drawn), numbers_of(start)) == !is_mean);
  }
}

TEST_CASE("a prior stated by functions refuses what contradicts it", "[inference][prior]") {
  const MlpSpec network{.inputs = 4, .hidden = {8}, .outputs = 1};
  NetworkPosteriorOptions options{.prior_scale = PriorScale::functions};
  options.prior.learn_weight_precision = true;
  CHECK_ERROR(make_network_posterior(options, network), usage, "learn_weight_precision", "prior_scale=weights");
  options.prior.learn_weight_precision = false;
  options.parameterization = WeightForm::mean_field;
  CHECK_ERROR(make_network_posterior(options, network), usage, "prior_scale=functions", "scale_mixture");
}
