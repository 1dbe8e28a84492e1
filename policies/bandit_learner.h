// A policy that learns as outcomes come: what a simulated bandit, a log of a real one and a service all drive.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/interaction_window.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace stein::policies {

/// Chooses, and learns by a schedule from what came of it. Decisions and outcomes may come apart: of a log only some
/// choices have an outcome, and those of a service come late.
///
/// The posterior of a policy that learns from minibatches is that of the window: N is the number of interactions in it,
/// and what has left the window is forgotten. Other policies condition on every interaction.
class BanditLearner {
 public:
  /// What it learns from, and how often.
  struct Options {
    std::int64_t buffer = 0;           ///< interactions in the window; 0: all
    std::int64_t batch = 64;           ///< rows of a minibatch
    std::int64_t updates = 4;          ///< minibatch updates each time it learns
    std::int64_t learn_every = 1;      ///< interactions from one learning to the next
    std::int64_t rows_per_update = 0;  ///< fewer updates while data are few; 0: always `updates`
    std::int64_t forced_pulls = 10;    ///< pulls of every arm before the policy chooses
    bool importance_weights = false;   ///< interactions count for 1 / propensity
    double largest_weight = 100;       ///< more is taken as this

    template <class Visitor>
    void describe(Visitor& visit) {
      visit("buffer", buffer, "the last interactions that minibatches are drawn from: N of the posterior; 0: all",
            between(0, 1e6), "interactions");
      visit("batch", batch, "rows of a minibatch, drawn with replacement", between(1, 1e5), "interactions");
      visit("updates", updates, "minibatch updates each time the agent learns", between(1, 1e6));
      visit("learn_every", learn_every, "interactions from one learning to the next", between(1, 1e9), "interactions");
      visit("rows_per_update", rows_per_update,
            "while the window is short, learn with at most (rows in it) / (this number) updates, but one; 0: no limit",
            between(0, 1e9), "interactions");
      visit("forced_pulls", forced_pulls, "pulls of every arm, in turn, before the policy chooses", between(0, 1e6),
            "per arm");
      visit("importance_weights", importance_weights,
            "weigh an interaction by 1 / the propensity that its arm was drawn or, of a log, logged with, as if it had "
            "been drawn or logged uniformly")
          .in_older_runs("false");
      visit("largest_weight", largest_weight, "of importance_weights: larger ones are cut to this", positive)
          .in_older_runs("100");
      visit.preset(
          "paper", "Blundell et al. 2015, which Zhang et al. 2018 follow",
          {{"buffer", "4096"}, {"batch", "64"}, {"updates", "64"}, {"learn_every", "1"}, {"forced_pulls", "0"}});
    }
  };

  /// Time spent so far by this object; never part of its saved state.
  struct Timing {
    double deciding_seconds = 0;
    double learning_seconds = 0;
    std::int64_t timed_decisions = 0;  ///< that deciding_seconds is of: one in 31
    std::int64_t decisions = 0;        ///< made by the policy: forced pulls are not counted
    std::int64_t updates = 0;

    Timing& operator+=(const Timing& other);
    /// Decisions a second of one thread, by the time of decisions alone; 0 if none was timed.
    double decisions_per_second() const;
    /// Updates a second of one thread, by the time of learning alone; 0 if there were none.
    double updates_per_second() const;
  };

  /// Throws Error(usage) naming the option that is out of its range.
  BanditLearner(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                std::unique_ptr<BanditPolicy> policy);

  /// A choice among the arms of a context: the arm with the fewest pulls while one has fewer than forced_pulls, the
  /// first of equals, else the policy's.
  Decision decide(const envs::Context& context, Propensities wanted);
  /// The policy's choice, for whom nothing will be learned from: no pull is forced.
  Decision choose(const envs::Context& context, Propensities wanted);
  /// An arm was pulled as was decided; what came of it is told later, or never.
  void pulled(std::int64_t arm) { ++pulls_[static_cast<std::size_t>(arm)]; }
  /// Takes note of what came of a pull, and learns if it is time.
  void learn(const envs::Context& context, const Outcome& outcome);

  /// How many decisions were made, forced ones included; the next one is keyed by it.
  std::int64_t decisions() const { return decisions_; }
  /// How many of the decisions were forced.
  std::int64_t forced() const { return forced_decisions_; }
  /// Outcomes that can still be observed before the next minibatch moves the policy.
  std::int64_t outcomes_until_update() const { return options_.learn_every - outcomes_ % options_.learn_every; }
  /// How many outcomes were taken note of.
  std::int64_t outcomes() const { return outcomes_; }
  const Timing& timing() const { return timing_; }
  const BanditPolicy& policy() const { return *policy_; }
  BanditPolicy& policy() { return *policy_; }

  /// Everything that later decisions depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  /// The place of an arm that is yet to be pulled, −1 if there is none.
  std::int64_t forced_place(const envs::Context& context) const;
  void update();
  std::int64_t updates_now() const;

  Options options_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::unique_ptr<BanditPolicy> policy_;
  InteractionWindow window_;
  std::vector<double> forced_;       ///< propensities of a forced pull
  std::vector<std::int64_t> pulls_;  ///< [arms]
  std::int64_t decisions_ = 0, forced_decisions_ = 0, outcomes_ = 0, updates_ = 0;
  Timing timing_;
};

}  // namespace stein::policies
