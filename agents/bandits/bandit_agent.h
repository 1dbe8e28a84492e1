// Learning from a bandit one interaction at a time: Algorithm 1 of Zhang, Li, Chen & Carin (AISTATS 2018) with any
// policy.
#pragma once

#include <stein/agents/bandits/interaction_window.h>
#include <stein/core/options.h>
#include <stein/core/snapshot.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stein::agents {

/// One interaction and where the agent stands after it. Spans are valid until the next interaction.
struct Interaction {
  std::int64_t step = 0;                       ///< 0 for the first
  std::int64_t row = -1;                       ///< row of the data set, or −1
  std::int64_t action = 0;                     ///< the arm that was pulled
  double reward = 0;                           ///< what it paid
  std::span<const double> expected_rewards{};  ///< [arms]
  std::span<const double> propensities{};      ///< [arms]
  bool deterministic = false;                  ///< the policy drew nothing
  double regret = 0;                           ///< sum so far of max E[r] − E[r | action]
  double uniform_regret = 0;                   ///< the same for an arm drawn uniformly, in expectation
  double total_reward = 0;                     ///< sum so far of the rewards
};

/// One repetition: observe a context, choose an arm, take the reward, keep the interaction, learn.
///
/// The posterior of a policy that learns from minibatches is that of the window: N is the number of interactions in it,
/// and what has left the window is forgotten. Other policies condition on every interaction. Regret is exact: it sums
/// expected rewards, not rewards.
class BanditAgent {
 public:
  /// What it learns from, and how often.
  struct Options {
    std::int64_t buffer = 4096;        ///< interactions in the window
    std::int64_t batch = 64;           ///< rows of a minibatch
    std::int64_t updates = 64;         ///< minibatch updates each time the agent learns
    std::int64_t learn_every = 1;      ///< interactions from one learning to the next
    std::int64_t rows_per_update = 0;  ///< fewer updates while data are few; 0: always `updates`
    std::int64_t forced_pulls = 10;    ///< pulls of every arm before the policy chooses

    template <class Visitor>
    void describe(Visitor& visit) {
      visit("buffer", buffer, "the last interactions that minibatches are drawn from: N of the posterior",
            between(1, 1e6), "interactions");
      visit("batch", batch, "rows of a minibatch, drawn with replacement", between(1, 1e5), "interactions");
      visit("updates", updates, "minibatch updates each time the agent learns", between(1, 1e6));
      visit("learn_every", learn_every, "interactions from one learning to the next", between(1, 1e9), "interactions");
      visit("rows_per_update", rows_per_update,
            "while the window is short, learn with at most (rows in it) / (this number) updates, but one; 0: no limit",
            between(0, 1e9), "interactions");
      visit("forced_pulls", forced_pulls, "pulls of every arm, in turn, before the policy chooses", between(0, 1e6),
            "per arm");
      visit.preset(
          "paper", "Blundell et al. 2015, which Zhang et al. 2018 follow",
          {{"buffer", "4096"}, {"batch", "64"}, {"updates", "64"}, {"learn_every", "1"}, {"forced_pulls", "0"}});
    }
  };

  /// Time spent so far by this object; never part of its saved state.
  struct Timing {
    double deciding_seconds = 0;
    double learning_seconds = 0;
    std::int64_t decisions = 0;  ///< made by the policy: forced pulls are not counted
    std::int64_t updates = 0;

    Timing& operator+=(const Timing& other);
    /// Of one thread, counting the time of decisions only; 0 if there were none.
    double decisions_per_second() const;
    /// Of one thread, counting the time of learning only; 0 if there were none.
    double updates_per_second() const;
  };

  /// Throws Error(usage) naming the option that is out of its range.
  BanditAgent(const Options& options, std::uint64_t seed, std::unique_ptr<envs::BanditEnvironment> environment,
              std::unique_ptr<policies::BanditPolicy> policy);

  /// The next interaction. Throws Error(numeric), naming seed and step, where the policy left the finite numbers.
  const Interaction& step();

  std::int64_t steps_done() const { return steps_done_; }
  std::uint64_t seed() const { return seed_; }
  /// The last interaction, or zeros if there was none.
  const Interaction& last() const { return last_; }
  const Timing& timing() const { return timing_; }
  const envs::BanditEnvironment& environment() const { return *environment_; }
  envs::BanditEnvironment& environment() { return *environment_; }
  const policies::BanditPolicy& policy() const { return *policy_; }
  policies::BanditPolicy& policy() { return *policy_; }

  /// Everything that later interactions depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  policies::Decision decide(const envs::Context& context);
  void take(const policies::Decision& decision);
  void learn_from(const envs::Context& context);
  void learn();
  std::int64_t updates_now() const;

  Options options_;
  std::uint64_t seed_;
  std::unique_ptr<envs::BanditEnvironment> environment_;
  std::unique_ptr<policies::BanditPolicy> policy_;
  InteractionWindow window_;
  std::vector<double> forced_;  ///< propensities of a forced pull
  std::int64_t steps_done_ = 0;
  std::int64_t updates_done_ = 0;
  Interaction last_;
  Timing timing_;
};

}  // namespace stein::agents
