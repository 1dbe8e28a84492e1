// Particle policies: propensities, learning, prior functions, and the arithmetic behind them.
#include <stein/policies/particle_policy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec spec{.name = "two-arms", .arms = 2, .context_size = 3, .reward_deviation = 2};

ParticlePolicy::Options small() {
  ParticlePolicy::Options options;
  options.particles = 8;
  options.hidden = {6};
  return options;
}

/// A few interactions in which arm 1 pays 4·x₀ and arm 0 nothing.
struct Interactions {
  std::vector<float> contexts, rewards;
  std::vector<std::int32_t> actions;
  InteractionBatch batch;

  Interactions() : contexts(32 * 3), rewards(32), actions(32) {
    fill_normal(std::span<float>(contexts), {.seed = 11}, 0);
    for (int i = 0; i < 32; ++i) {
      actions[i] = i % 2;
      rewards[i] = actions[i] == 1 ? 4 * contexts[3 * i] : 0;
    }
    batch = {.dense = contexts, .active = {}, .actions = actions, .rewards = rewards, .rows = 32, .window = 32};
  }
};

}  // namespace

TEST_CASE("drawing one particle, an arm's probability is the share of particles that prefer it",
          "[policies][particle]") {
  ParticlePolicy policy(small(), spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  const Decision decision = policy.decide({.dense = context}, 0);
  double prefers_first = 0;
  for (const auto& rewards : policy.posterior_rewards({.dense = context})) prefers_first += rewards[0] > rewards[1];
  CHECK(decision.propensities[0] == Approx(prefers_first / 8));
  CHECK_FALSE(decision.deterministic);
}

TEST_CASE("ties split an arm's probability", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.initial_spread = 0;  // every particle predicts zero for both arms
  ParticlePolicy policy(options, spec, 5);
  const std::vector<float> context{1, -1, 0.5f};
  CHECK(policy.decide({.dense = context}, 0).propensities[0] == Approx(0.5));
}

TEST_CASE("the mean of all particles is deterministic, and epsilon shares out the rest", "[policies][particle]") {
  ParticlePolicy::Options options = small();
  options.draw = Draw::mean;
  const std::vector<float> context{1, -1, 0.5f};
  const Decision mean = ParticlePolicy(options, spec, 5).decide({.dense = context}, 0);
  CHECK(mean.deterministic);
  options.epsilon = 0.1;
  ParticlePolicy greedy(options, spec, 5);
  const Decision decision = greedy.decide({.dense = context}, 0);
  CHECK_FALSE(decision.deterministic);
  CHECK(std::max(decision.propensities[0], decision.propensities[1]) == Approx(0.95));
}

TEST_CASE("what is learned shows in the predicted rewards, in the unit of the rewards", "[policies][particle]") {
  const Interactions data;
  for (const bool repulsion : {false, true}) {
    for (const double prior_function_scale : {0.0, 1.0}) {
      ParticlePolicy::Options options = small();
      options.repulsion = repulsion;
      options.prior_function_scale = prior_function_scale;
      options.noise_precision = 20;
      options.sampler.optimizer.step_size = 0.01;
      ParticlePolicy policy(options, spec, 5);
      for (int t = 0; t < 1500; ++t) policy.learn(data.batch);
      double square = 0, spread = 0;
      for (int i = 1; i < 32; i += 2) {
        const auto rewards = policy.posterior_rewards({.dense = std::span(data.contexts).subspan(3 * i, 3)});
        double mean = 0;
        for (const auto& row : rewards) mean += row[1] / 8;
        square += std::pow(mean - data.rewards[i], 2) / 16;
        spread += std::pow(double{data.rewards[i]}, 2) / 16;
      }
      CAPTURE(repulsion, prior_function_scale, square, spread);
      CHECK(square < 0.1 * spread);
    }
  }
}

TEST_CASE("a reward that is not finite stops learning and names a coordinate", "[policies][particle]") {
  Interactions data;
  data.rewards[3] = std::numeric_limits<float>::infinity();
  ParticlePolicy policy(small(), spec, 5);
  CHECK_THROWS_WITH(policy.learn(data.batch), Catch::Contains("layer"));
}
