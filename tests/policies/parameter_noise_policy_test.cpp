// Parameter noise: what is perturbed, how far, and how it adapts.
#include <stein/core/rng.h>
#include <stein/policies/parameter_noise_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec wide_context{.name = "two", .arms = 2, .context_size = 40, .reward_deviation = 1};

ParameterNoisePolicy::Options linear_options() {
  auto options = neural_defaults<ParameterNoisePolicy::Options>("optimizer");
  options.hidden = {};
  options.particles = 500;
  return options;
}

double noise_of(const ParameterNoisePolicy& policy) {
  return policy.diagnostics().front().second;
}

}  // namespace

TEST_CASE("outputs of perturbed networks spread by σ times the root mean square of the weights",
          "[policies][parameter-noise]") {
  auto options = linear_options();
  options.initial_noise = 0.3;
  options.particles = 2000;
  const std::int64_t arms = GENERATE(2, 17);  // rows of 17 weights are filled up to whole vectors
  CAPTURE(arms);
  envs::BanditSpec with_arms = wide_context;
  with_arms.arms = arms;
  ParameterNoisePolicy policy(options, with_arms, 5);
  Snapshot state;
  policy.save(state);
  const std::vector<float> weights = state.get_vector<float>("particles/values");
  double weight_square = 0;  // the biases start at 0: their noise is 0
  const auto count = static_cast<std::size_t>(40 * arms);
  REQUIRE(weights.size() == count + static_cast<std::size_t>(arms));
  for (std::size_t q = 0; q < count; ++q)
    weight_square += double{weights[q]} * double{weights[q]} / static_cast<double>(count);
  std::vector<float> x(40);
  fill_normal(std::span(x), {.seed = 1}, 0);
  double length = 0, mean = 0, variance = 0;
  for (const float value : x) length += double{value} * double{value};
  const auto samples = policy.posterior_rewards({.dense = x});
  for (const auto& sample : samples) mean += sample[1] / 2000;
  for (const auto& sample : samples) variance += std::pow(sample[1] - mean, 2) / 1999;
  CHECK(variance == Approx(0.09 * weight_square * length).epsilon(6 * std::sqrt(2.0 / 2000)));
}

TEST_CASE("the noise shrinks where more networks prefer another arm than are to, and grows where fewer do",
          "[policies][parameter-noise]") {
  for (const double target : {0.0, 0.9}) {
    auto options = linear_options();
    options.target_change = target;
    options.initial_noise = target > 0.5 ? 0.01 : 5;
    ParameterNoisePolicy policy(options, wide_context, 5);
    std::vector<float> x(40);
    fill_normal(std::span(x), {.seed = 1}, 0);
    const double before = noise_of(policy);
    policy.observe({.dense = x}, {.action = 0, .reward = 1});
    CHECK(noise_of(policy) == Approx(target > 0.5 ? 1.01 * before : before / 1.01).epsilon(1e-12));
  }
}

TEST_CASE("perturbed networks come to disagree about as often as they are to", "[policies][parameter-noise]") {
  auto options = linear_options();
  options.particles = 50;
  options.target_change = 0.1;
  ParameterNoisePolicy policy(options, wide_context, 5);
  double changed = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> x(40);
    fill_normal(std::span(x), {.seed = 1, .step = static_cast<std::uint64_t>(i)}, 0);
    const Decision decision = policy.decide({.dense = x}, i, Propensities::exact);
    // The unperturbed arm is that of most votes as long as noise is small.
    if (i >= 2000) changed += std::min(decision.propensities[0], decision.propensities[1]) / 1000;
    policy.observe({.dense = x}, {.action = 0, .reward = 0});
  }
  // σ settles where as many contexts have a share above .1 as below, that is at the median; the mean is near it.
  CHECK(changed > 0.03);
  CHECK(changed < 0.25);
}
