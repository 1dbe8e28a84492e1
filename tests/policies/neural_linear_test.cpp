// Neural-linear: the regressions see the network's last hidden layer, and all of the window when they are made anew.
#include <stein/core/rng.h>
#include <stein/policies/interaction_window.h>
#include <stein/policies/neural_linear.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::policies;

namespace {

constexpr std::int64_t width = 6;

NeuralLinear::Options small_linear() {
  auto options = neural_defaults<NeuralLinear::Options>("optimizer");
  options.hidden = {width};
  options.prior_precision = 0.5;
  options.prior_shape = 3;
  return options;
}

/// The features of a context by the weights that a policy saves: the activation of xᵀW + b.
std::vector<float> features_of(const NeuralLinear& policy, std::span<const float> x,
                               inference::Activation activation = inference::Activation::relu) {
  Snapshot state;
  policy.save(state);
  const std::vector<float> weights = state.get_vector<float>("particles/values");
  std::vector<float> features(width);
  for (std::size_t j = 0; j < width; ++j) {
    float sum = weights[x.size() * width + j];
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * weights[i * width + j];
    features[j] = activation == inference::Activation::relu ? std::max(sum, 0.0F) : std::tanh(sum);
  }
  return features;
}

}  // namespace

TEST_CASE("neural-linear is LinTS on the last hidden layer, made anew from the window", "[policies][neural-linear]") {
  const envs::BanditSpec spec{.name = "three", .arms = 3, .context_size = 4, .reward_deviation = 2};
  const envs::BanditSpec feature_spec{.name = "features", .arms = 3, .context_size = width, .reward_deviation = 2};
  auto options = small_linear();
  options.activation = GENERATE(inference::Activation::relu, inference::Activation::tanh);
  options.scale_rewards = GENERATE(true, false);  // which the prior of the noise is in units of
  CAPTURE(static_cast<int>(options.activation), options.scale_rewards);
  NeuralLinear policy(options, spec, 5);
  InteractionWindow window(spec, 0, 16);
  std::vector<std::vector<float>> contexts;
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 80; ++i) {
    std::vector<float> x(4);
    fill_normal(std::span(x), {.seed = 3, .step = static_cast<std::uint64_t>(i)}, 0);
    contexts.push_back(x);
    outcomes.push_back({.action = i % 3, .reward = 3.0 * x[0] - 1.0 * x[1] * (i % 3)});
  }
  const auto regressions = [&](std::size_t first_unseen, const NeuralLinear& by) {
    LinTs linear({.prior_precision = 0.5, .prior_shape = 3, .prior_rate = 6, .scale_rewards = options.scale_rewards},
                 feature_spec, 5);
    for (std::size_t i = 0; i < first_unseen; ++i) {
      const std::vector<float> seen = features_of(by, contexts[i], options.activation);
      linear.observe({.dense = seen}, outcomes[i]);
    }
    return linear;
  };
  for (std::size_t i = 0; i < 80; ++i) {
    policy.observe({.dense = contexts[i]}, outcomes[i]);
    window.append({.dense = contexts[i]}, outcomes[i]);
    policy.learn(window.draw(1, i));
  }
  REQUIRE(policy.revisits_every() == 20);
  policy.revisit(window.all());
  LinTs linear = regressions(80, policy);
  for (std::size_t i = 0; i < 20; ++i) {
    const std::vector<float> seen = features_of(policy, contexts[i], options.activation);
    const auto step = static_cast<std::int64_t>(i);
    const Decision decision = policy.decide({.dense = contexts[i]}, step, Propensities::exact);
    const Decision expected = linear.decide({.dense = seen}, step, Propensities::exact);
    CHECK(decision.action == expected.action);
    for (std::size_t arm = 0; arm < 3; ++arm)
      CHECK(decision.propensities[arm] == Approx(expected.propensities[arm]).margin(1e-4));
  }
}

TEST_CASE("propensities of a decision outlive the regressions that made it", "[policies][neural-linear]") {
  const envs::BanditSpec spec{.name = "three", .arms = 3, .context_size = 4, .reward_deviation = 1};
  NeuralLinear policy(small_linear(), spec, 5);
  InteractionWindow window(spec, 0, 4);
  const std::vector<float> x{1, -1, 2, 0.5F};
  const Decision decision = policy.decide({.dense = x}, 0, Propensities::exact);
  const double* const kept = decision.propensities.data();
  const std::vector<double> before(decision.propensities.begin(), decision.propensities.end());
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome{.action = i % 3, .reward = 1.0 * i};
    policy.observe({.dense = x}, outcome);
    window.append({.dense = x}, outcome);
    policy.revisit(window.all());
  }
  CHECK(std::equal(before.begin(), before.end(), decision.propensities.begin()));
  // The same memory serves the next decision: it is the policy's own, not that of regressions which are gone.
  CHECK(policy.decide({.dense = x}, 1, Propensities::exact).propensities.data() == kept);
}

TEST_CASE("between two revisits an interaction counts with the features of its moment", "[policies][neural-linear]") {
  const envs::BanditSpec spec{.name = "two", .arms = 2, .context_size = 4, .reward_deviation = 1};
  NeuralLinear policy(small_linear(), spec, 5);
  const std::vector<float> x{1, -1, 2, 0.5F};
  const auto mean_of_first_arm = [&] {
    double sum = 0;
    const auto samples = policy.posterior_rewards({.dense = x});
    for (const auto& sample : samples) sum += sample[0] / static_cast<double>(samples.size());
    return sum;
  };
  for (int i = 0; i < 200; ++i) policy.observe({.dense = x}, {.action = 0, .reward = 7});
  CHECK(mean_of_first_arm() == Approx(7).margin(0.3));
}

TEST_CASE("a joint network gives every arm its own features, and one regression is of all arms",
          "[policies][neural-linear]") {
  const envs::BanditSpec spec{.name = "news", .arms = 5, .context_size = 2, .arm_features = 2, .reward_deviation = 1};
  auto options = small_linear();
  options.hidden = {16};
  NeuralLinear policy(options, spec, 5);
  const std::vector<float> x{1, -1}, features{1, 0, 0, 1, 1, 1, 0.5F, 0.2F, -1, 0};
  // Arm 0 pays and arm 4 is never pulled: its features are the opposite of arm 0's, so it is predicted, not unknown.
  for (int i = 0; i < 300; ++i) {
    const std::int64_t arm = i % 4;
    policy.observe({.dense = x, .arm_features = features}, {.action = arm, .reward = arm == 0 ? 2.0 : 0.0});
  }
  const Decision decision = policy.decide({.dense = x, .arm_features = features}, 0, Propensities::exact);
  REQUIRE(decision.propensities.size() == 5);
  double sum = 0;
  for (const double p : decision.propensities) sum += p;
  CHECK(sum == Approx(1).epsilon(1e-9));
  CHECK(decision.propensities[0] > 0.9);
}

TEST_CASE("neural-linear refuses what it cannot regress on", "[policies][neural-linear]") {
  const envs::BanditSpec spec{.name = "clicks", .arms = 2, .context_size = 2, .reward_high = 1};
  auto options = small_linear();
  options.hidden = {};
  CHECK_ERROR(NeuralLinear(options, spec, 1), usage, "'hidden'", "last hidden layer");
  options = small_linear();
  options.likelihood = inference::Likelihood::bernoulli;
  CHECK_ERROR(NeuralLinear(options, spec, 1), usage, "'likelihood'", "bernoulli");
}
