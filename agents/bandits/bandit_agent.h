// Learning from a bandit one interaction at a time: Algorithm 1 of Zhang, Li, Chen & Carin (AISTATS 2018) with any
// policy.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_learner.h>

#include <cstdint>
#include <memory>
#include <span>

namespace stein::agents {

/// One interaction and where the agent stands after it. Spans are valid until the next interaction.
struct Interaction {
  std::int64_t step = 0;                       ///< 0 for the first
  std::int64_t row = -1;                       ///< row of the data set, or −1
  envs::Context context{};                     ///< what was seen
  std::int64_t action = 0;                     ///< the arm that was pulled
  double reward = 0;                           ///< what it paid
  std::span<const double> expected_rewards{};  ///< [arms]
  std::span<const double> propensities{};      ///< [arms]
  bool deterministic = false;                  ///< the policy drew nothing
  double regret = 0;                           ///< sum so far of max E[r] − E[r | action]
  double uniform_regret = 0;                   ///< the same for an arm drawn uniformly, in expectation
  double total_reward = 0;                     ///< sum so far of the rewards
};

/// One repetition: observe a context, choose an arm, take the reward, learn. Regret is exact: it sums expected rewards,
/// not rewards.
class BanditAgent {
 public:
  /// Throws Error(usage) naming the option that is out of its range.
  BanditAgent(const policies::BanditLearner::Options& options, std::uint64_t seed,
              std::unique_ptr<envs::BanditEnvironment> environment, std::unique_ptr<policies::BanditPolicy> policy);

  /// The next interaction. Throws Error(numeric), naming seed and step, where the policy left the finite numbers.
  const Interaction& step();

  std::int64_t steps_done() const { return learner_.decisions(); }
  std::uint64_t seed() const { return seed_; }
  /// The last interaction, or zeros if there was none.
  const Interaction& last() const { return last_; }
  const envs::BanditEnvironment& environment() const { return *environment_; }
  envs::BanditEnvironment& environment() { return *environment_; }
  const policies::BanditLearner& learner() const { return learner_; }
  policies::BanditPolicy& policy() { return learner_.policy(); }

  /// Everything that later interactions depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  /// Shows the policy the contexts of this and the next steps, all that it decides before it learns from minibatches.
  void foresee(std::int64_t step);
  void take(const envs::Context& context, const policies::Decision& decision, std::int64_t step);

  std::uint64_t seed_;
  std::unique_ptr<envs::BanditEnvironment> environment_;
  policies::BanditLearner learner_;
  Interaction last_;
  std::int64_t foreseen_end_ = 0;  ///< the step with whose context it has to be shown others
};

}  // namespace stein::agents
