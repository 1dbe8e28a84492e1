// Bootstrapped particles: a law of a linear network whose bootstrap is known in closed form.
#include <stein/core/rng.h>
#include <stein/policies/bootstrap_policy.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace stein;
using namespace stein::policies;

TEST_CASE("bootstrapped means have the spread of resampled means, and an interaction counts alike whenever it is seen",
          "[policies][bootstrap]") {
  // One arm is pulled in one context x = 0: the network is its bias, which climbs to Σ k_n r_n / (Σ k_n + λ/γ). Half of
  // the 40 rewards are 1, the others −1: with k ~ Poisson(1) the variance over particles is about 1/40.
  const envs::BanditSpec spec{.name = "one", .arms = 2, .context_size = 1, .reward_deviation = 1};
  auto options = neural_defaults<BootstrapPolicy::Options>("optimizer");
  options.hidden = {};
  options.particles = 400;
  options.noise_precision = 100;
  options.scale_rewards = false;
  OptionTable::of(options.sampler).set("step_size", "0.05");
  OptionTable::of(options.sampler).set("step_decay_steps", "100");
  BootstrapPolicy policy(options, spec, 5);
  std::vector<float> contexts(40), rewards(40);
  std::vector<std::int32_t> actions(40);
  std::vector<std::int64_t> numbers(40);
  for (std::size_t i = 0; i < 40; ++i) rewards[i] = i % 2 == 0 ? 1 : -1, numbers[i] = static_cast<std::int64_t>(i);
  for (int update = 0; update < 3000; ++update)
    policy.learn(
        {.dense = contexts, .actions = actions, .rewards = rewards, .numbers = numbers, .rows = 40, .window = 40});
  const std::vector<float> x{0};
  const auto samples = policy.posterior_rewards({.dense = x});
  double mean = 0, variance = 0;
  for (const auto& sample : samples) mean += sample[0] / 400;
  for (const auto& sample : samples) variance += std::pow(sample[0] - mean, 2) / 399;
  CHECK(std::abs(mean) < 6 * std::sqrt(0.025 / 400));
  CHECK(variance == Approx(0.025 * (1 + 1.0 / 40)).epsilon(6 * std::sqrt(2.0 / 400)));  // E[1/Σk] is a little more
}
