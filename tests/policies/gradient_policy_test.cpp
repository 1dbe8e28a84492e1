// NeuralUCB and neural Thompson sampling: variances from gradients, by finite differences and by hand.
#include <stein/inference/models/particle_mlp.h>
#include <stein/policies/gradient_policy.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec spec{.name = "two", .arms = 2, .context_size = 3, .reward_deviation = 1};

NeuralTs::Options linear() {
  auto options = neural_defaults<NeuralTs::Options>("optimizer");
  options.hidden = {};
  return options;
}

}  // namespace

TEST_CASE("the variance of an output is gᵀZ⁻¹g, g its gradient by finite differences", "[policies][gradient]") {
  inference::ParticleMlp network(
      {.inputs = 3, .hidden = {8, 8}, .outputs = 2, .activation = inference::Activation::tanh});
  const std::int64_t size = network.layout().size();
  std::vector<float> weights(static_cast<std::size_t>(size));
  for (const inference::LayoutEntry& entry : network.layout().entries())
    for (std::int64_t row = 0; row < entry.rows(); ++row)
      fill_normal(std::span(weights).subspan(entry.offset + row * entry.row_stride, entry.columns()), {.seed = 2},
                  static_cast<std::uint32_t>(entry.offset + row));
  const std::vector<float> rows{9, 9, 9, 0.3F, -1, 0.7F};
  inference::Inputs<float> inputs;
  inputs.dense = {rows.data(), 2, 3};
  const inference::MatrixView<const float> one{weights.data(), 1, size};
  const auto output = [&] {
    std::vector<float> outputs(4);
    network.predict({{weights.data(), 1, size}, 0}, inputs, {outputs.data(), 2, 2});
    return double{outputs[3]};  // output 1 of row 1
  };
  double square = 0, after = 0;
  const double precision = 0.5, width = 8;
  for (const inference::LayoutEntry& entry : network.layout().entries())
    for (std::int64_t row = 0; row < entry.rows(); ++row)
      for (std::int64_t j = 0; j < entry.columns(); ++j) {
        float& weight = weights[entry.offset + row * entry.row_stride + j];
        const float here = weight, step = 1e-2F;
        weight = here + step;
        const double up = output();
        weight = here - step;
        const double slope = (up - output()) / (2 * step);
        weight = here;
        square += precision * slope * slope / precision / width;
        after += precision * slope * slope / (precision + 3 * slope * slope / width) / width;
      }
  GradientVariance variance(network.layout(), precision, 8);
  CHECK(variance.of(network, one, inputs, 1, 1) == Approx(square).epsilon(2e-3));
  variance.observe(3);
  CHECK(variance.of(network, one, inputs, 1, 1) == Approx(after).epsilon(2e-3));
}

TEST_CASE("of a linear network the gradient is the context, whose variance falls with each pull",
          "[policies][gradient]") {
  auto options = linear();
  options.exploration = 2;
  options.gradient_precision = 4;
  options.initial_spread = 0;  // predicts 0: bounds are the widths
  NeuralUcb ucb(options, spec, 1);
  NeuralTs ts(options, spec, 1);
  const std::vector<float> x{1, 2, 0};
  const envs::Context context{.dense = x};
  CHECK(ucb.decide(context, 0, Propensities::exact).propensities[0] == 0.5);
  ucb.observe(context, {.action = 0, .reward = 0});
  // σ₀² falls from λ gᵀg/λ = 1 + 4 + 1 to 4 (1/5 + 4/8 + 1/5); that of arm 1 stays.
  CHECK(ucb.decide(context, 0, Propensities::exact).action == 1);
  ts.observe(context, {.action = 0, .reward = 0});
  double square[2] = {};
  const auto samples = ts.posterior_rewards(context);
  for (const auto& sample : samples)
    for (std::size_t arm = 0; arm < 2; ++arm)
      square[arm] += sample[arm] * sample[arm] / static_cast<double>(samples.size());
  CHECK(square[0] == Approx(4 * 4 * (0.2 + 0.5 + 0.2)).epsilon(0.8));
  CHECK(square[1] == Approx(4 * 6).epsilon(0.8));
  CHECK(square[0] < square[1]);
}

TEST_CASE("without exploration neural Thompson sampling is greedy", "[policies][gradient]") {
  auto options = linear();
  options.exploration = 0;
  NeuralTs greedy(options, spec, 1);
  const std::vector<float> x{1, 2, 0};
  const Decision decision = greedy.decide({.dense = x}, 0, Propensities::exact);
  CHECK(decision.deterministic);
  CHECK(decision.propensities[static_cast<std::size_t>(decision.action)] == 1);
}

TEST_CASE("policies of gradients refuse clicks as a likelihood", "[policies][gradient]") {
  auto options = linear();
  options.likelihood = inference::Likelihood::bernoulli;
  const envs::BanditSpec clicks{.name = "clicks", .arms = 2, .context_size = 3, .reward_high = 1};
  CHECK_ERROR(NeuralTs(options, clicks, 1), usage, "'likelihood'", "bernoulli");
}

TEST_CASE("a pull of weight three narrows an arm like three, and samples are in the unit of the rewards",
          "[policies][gradient]") {
  auto options = linear();
  options.exploration = 2;
  options.gradient_precision = 4;
  options.initial_spread = 0;
  envs::BanditSpec in_cents = spec;
  in_cents.reward_deviation = 100;
  NeuralTs euros(options, spec, 1), cents(options, in_cents, 1), thrice(options, spec, 1);
  const std::vector<float> x{1, 2, 0};
  const envs::Context context{.dense = x};
  euros.observe(context, {.action = 0, .reward = 0, .weight = 3});
  cents.observe(context, {.action = 0, .reward = 0, .weight = 3});
  for (int i = 0; i < 3; ++i) thrice.observe(context, {.action = 0, .reward = 0});
  const auto first = euros.posterior_rewards(context), same = thrice.posterior_rewards(context),
             large = cents.posterior_rewards(context);
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t arm = 0; arm < 2; ++arm) {
      CHECK(same[i][arm] == Approx(first[i][arm]).epsilon(1e-9));
      CHECK(large[i][arm] == Approx(100 * first[i][arm]).epsilon(1e-6));
    }
}
