// Bootstrapped particles: a law of a linear network whose bootstrap is known in closed form, and what counts how often.
#include <stein/core/rng.h>
#include <stein/policies/bootstrap_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>

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

TEST_CASE("counts multiply the weights of interactions, and are the same with and without them",
          "[policies][bootstrap]") {
  const std::vector<std::int64_t> numbers{3, 14, 15, 92, 65, 35, 89, 79};
  const std::vector<float> weights{2, 0.5F, 0, 3, 1, 0.25F, 7, 1.5F};
  const InteractionBatch interactions{.numbers = numbers, .rows = 8, .window = 8};
  inference::Batch<float> plain, weighted;
  weighted.row_weights = weights;
  BootstrapCounts counts(4, 5), again(4, 5);
  counts.apply(interactions, plain);
  again.apply(interactions, weighted);
  REQUIRE(plain.weights_per_particle);
  REQUIRE(weighted.row_weights.size() == 40);
  for (std::size_t at = 0; at < 40; ++at) CHECK(weighted.row_weights[at] == plain.row_weights[at] * weights[at % 8]);
}

TEST_CASE("clicks that anchors bootstrap already are not bootstrapped twice", "[policies][bootstrap]") {
  const envs::BanditSpec spec{.name = "clicks", .arms = 2, .context_size = 1, .reward_high = 1};
  std::vector<std::vector<std::vector<double>>> found;
  for (const std::string name : {"bootstrap", "anchored"}) {
    const auto builder = bandit_policies().at(name).builder();
    OptionTable table;
    builder->describe(table);
    for (const auto& [option, value] : {std::pair{"anchors", "true"},
                                        {"likelihood", "bernoulli"},
                                        {"hidden", "3"},
                                        {"prior_scale", "weights"},
                                        {"particles", "6"}})
      table.set(option, value);
    const auto policy = builder->make(spec, 5);
    const std::vector<float> contexts{1, -1, 2}, rewards{1, 0, 1};
    const std::vector<std::int32_t> actions{0, 1, 1};
    const std::vector<std::int64_t> numbers{0, 1, 2};
    for (int update = 0; update < 10; ++update)
      policy->learn(
          {.dense = contexts, .actions = actions, .rewards = rewards, .numbers = numbers, .rows = 3, .window = 3});
    found.push_back(policy->posterior_rewards({.dense = std::span(contexts).first(1)}));
  }
  CHECK(found[0] == found[1]);
}
