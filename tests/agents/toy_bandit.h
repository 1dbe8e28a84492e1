// A bandit and a policy small enough to follow by hand.
#pragma once

#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include <array>
#include <cmath>

namespace stein::test {

/// Two arms; the context is one number c in (−1, 1); arm 0 pays 0, arm 1 pays c plus normal noise.
class ToyBandit final : public envs::BanditEnvironment {
 public:
  const envs::BanditSpec& spec() const override { return spec_; }
  envs::Context observe(std::uint64_t seed, std::int64_t step) override {
    Draws draws({.seed = seed, .step = static_cast<std::uint64_t>(step), .stream = Stream::context}, 0);
    context_[0] = static_cast<float>(draws.uniform(-1, 1));
    noise_ = draws.normal();
    expected_ = {0, context_[0]};
    return {.dense = context_, .active = {}};
  }
  std::span<const double> expected_rewards() const override { return expected_; }
  std::vector<Probe> probes() const override {
    return {{.name = "c = ½", .dense = {0.5F}, .expected_rewards = {0, 0.5}}};
  }
  double reward(std::int64_t arm) override { return arm == 0 ? 0 : expected_[1] + noise_; }

 private:
  envs::BanditSpec spec_{.name = "toy", .arms = 2, .context_size = 1, .data = "synthetic", .source = "this test"};
  std::array<float, 1> context_{};
  std::array<double, 2> expected_{};
  double noise_ = 0;
};

/// Plays arm 1 with probability p, which creeps towards the share of positive rewards in its minibatches.
class ToyPolicy final : public policies::BanditPolicy {
 public:
  explicit ToyPolicy(std::uint64_t seed, std::int64_t breaks_at_update = -1)
      : seed_(seed), breaks_at_update_(breaks_at_update) {}

  policies::Decision decide(const envs::Context&, std::int64_t step, policies::Propensities) override {
    if (std::isnan(probability_)) fail(ErrorKind::numeric, "the probability is not a number");
    Draws draws({.seed = seed_, .step = static_cast<std::uint64_t>(step), .stream = Stream::decision}, 0);
    propensities_ = {1 - probability_, probability_};
    return {.action = draws.uniform() < probability_ ? 1 : 0, .propensities = propensities_};
  }
  bool learns_from_minibatches() const override { return true; }
  void learn(const policies::InteractionBatch& batch) override {
    if (updates == breaks_at_update_) fail(ErrorKind::numeric, "coordinate 'w' left the finite numbers");
    double positive = 0;
    for (const float reward : batch.rewards) positive += reward > 0;
    probability_ += 0.1 * ((0.2 + 0.6 * positive / static_cast<double>(batch.rows)) - probability_);
    ++updates;
  }
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override {
    return {{static_cast<double>(seed_), context.dense[0]}, {probability_, 0}};
  }
  std::vector<std::pair<std::string, double>> diagnostics() const override { return {{"probability", probability_}}; }
  void save(Snapshot& snapshot) const override { snapshot.put("probability", probability_); }
  void restore(const Snapshot& snapshot) override { probability_ = snapshot.get_scalar<double>("probability"); }

  /// From now on there is nothing to decide by.
  void lose_probability() { probability_ = NAN; }

  std::int64_t updates = 0;

 private:
  std::uint64_t seed_;
  std::int64_t breaks_at_update_;
  double probability_ = 0.5;
  std::array<double, 2> propensities_{};
};

}  // namespace stein::test
