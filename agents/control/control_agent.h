// Learning a control policy from its own episodes: REINFORCE, A2C and PPO, each with a posterior over the policy's
// weights where that is wanted.
#pragma once

#include <stein/agents/control/action_likelihoods.h>
#include <stein/agents/control/control_agent_options.h>
#include <stein/agents/control/experience.h>
#include <stein/agents/control/learning_measures.h>
#include <stein/agents/control/policy_learner.h>
#include <stein/agents/control/rollouts.h>
#include <stein/agents/control/shared_rollouts.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::agents {

/// What one iteration did.
struct IterationReport {
  std::int64_t steps = 0;                      ///< environment steps of all particles
  std::vector<FinishedEpisode> episodes{};     ///< that ended in it, by particle
  std::optional<LearningMeasures> measures{};  ///< where they were asked for
};

/// Whether an iteration also makes its LearningMeasures, which cost two passes through the policies and, of a Stein
/// posterior, sums over all pairs of particles. What is learned does not depend on it.
enum class Measured { no, yes };

/// One repetition: every particle plays, values what it did, and all particles move.
class ControlAgent {
 public:
  /// @param device  where rollouts are made (Rollouts), and gradients and moves of policies and value networks; where
  ///                policies share layers, compute by the reference or a kernel sees behaviour, these are the host's.
  ///                Measures are the host's always, advantages where rewards are normalised.
  /// @throws Error(usage) naming the option that is out of range or does not fit the others, for an environment
  ///         whose actions no control agent makes, and for a device that is missing or cannot move it
  ControlAgent(const ControlAgentOptions& options, const envs::ControlEntry::Builder& environment, std::uint64_t seed,
               inference::Device device = {});

  /// From here on `iterate` is a collective call of `ranks`, which have to outlive the agent and whose agents are all
  /// in the same state: they share the rollouts and, between particles, what is learned from them. Every one is
  /// afterwards as if it had done all of it, but for what `bring_together` brings.
  /// @returns false where there is nothing to share, so that ranks would only repeat what the first does
  bool share_with(distributed::Communicator& ranks);
  /// A collective call of them, before it is saved.
  void bring_together() { learner_.bring_together(); }

  /// Collects and learns once. Throws Error(numeric) naming seed and iteration where the policies left the finite
  /// numbers.
  IterationReport iterate(Measured measured = Measured::no);

  std::uint64_t seed() const { return seed_; }
  std::int64_t iterations() const { return iterations_; }
  /// Environment steps of all particles so far.
  std::int64_t total_steps() const { return rollouts_.total_steps(); }
  /// What an iteration plans to take; whole paths may take more.
  std::int64_t steps_per_iteration() const {
    return rollouts_.shape().particles * rollouts_.shape().slots * rollouts_.shape().steps;
  }
  double discount() const { return options_.discount; }
  /// Over which step sizes fall; 0: they stay.
  std::int64_t decay_steps() const { return options_.decay_steps; }
  /// Whether it climbs a clipped surrogate.
  bool clips() const { return options_.clip_ratio > 0; }
  policies::ControlPolicy& policy() { return policy_; }
  const policies::ControlPolicy& policy() const { return policy_; }

  /// A sentence about the last time that the policies left the finite numbers and were brought back, if they did.
  std::optional<std::string> warning() const { return learner_.warning(); }

  /// Everything that later iterations depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  std::optional<ValuedBy> networks_to_value_with() const;
  void decay_step_sizes();
  void look_before();
  bool update();
  PolicyLearner::Outcome step(const ExperienceRows& own, std::span<const std::int64_t> chosen = {});
  void observe();
  ValueRows value_rows(const ExperienceRows& rows) const;

  ControlAgentOptions options_;
  std::uint64_t seed_;
  policies::ControlPolicy policy_;
  std::unique_ptr<inference::PartExchange> exchange_;  ///< with other ranks
  Rollouts rollouts_;
  std::unique_ptr<Baseline> baseline_;
  Experience experience_;
  ActionLikelihoods likelihoods_;  ///< of the policies over the experience
  SharedRollouts shared_;
  PolicyLearner learner_;  ///< of the policies
  std::int64_t iterations_ = 0;
  double decay_ = 1;                      ///< of the step sizes since the start
  bool baseline_has_seen_ = false;        ///< the rows of this iteration
  LearningMeasures* measures_ = nullptr;  ///< of the iteration under way; null where it is not measured
};

}  // namespace stein::agents
