// A policy that has left the log or the simulator it learned from, and decides for whoever asks.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/bandit_learner.h>
#include <stein/replay/arm_table.h>
#include <stein/replay/logged_event.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stein::replay {

/// Decides for contexts as they come, and learns from outcomes that come later, in any order or never. Decisions that
/// wait for an outcome are kept, the last so many of them.
class ServedPolicy {
 public:
  /// @param most_waiting  decisions that are kept until their outcome is known, at least 1
  ServedPolicy(envs::BanditSpec spec, ArmTable arms, std::unique_ptr<policies::BanditLearner> learner,
               std::int64_t most_waiting = 100'000);

  /// A decision under its number, by which its outcome is told. The span is valid until the next one.
  struct Answer {
    std::int64_t id;
    policies::Decision decision;
    double propensity;  ///< of the arm that was chosen
  };
  /// From now on decisions have numbers that no decision before has had, saved or not.
  void begin_session() { ++session_; }
  /// Chooses one of the arms of `event`, of which nothing but the context is read. @param keep  until its outcome
  /// comes; otherwise nothing is learned from it, and no pull is forced
  Answer decide(const LoggedEvent& event, bool keep);
  /// What came of a decision. Throws Error(data) where none of that number waits, or the reward is not finite or
  /// none that the bandit has.
  void learn(std::int64_t id, double reward);
  /// Samples of the posterior expected reward, [samples][choices]; empty where the policy has none.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context);

  /// After how many steps of its run the policy began to serve; 0 where that is not known. It is saved and restored.
  std::uint64_t run_steps() const { return run_steps_; }
  void set_run_steps(std::uint64_t steps) { run_steps_ = steps; }

  const envs::BanditSpec& spec() const { return spec_; }
  ArmTable& arms() { return arms_; }
  /// What the arm is called; its number where it has no name.
  std::string arm_name(std::int64_t arm) const;
  std::int64_t decisions() const { return learner_->decisions(); }
  std::int64_t outcomes() const { return learner_->outcomes(); }

  /// Everything that later decisions depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  envs::BanditSpec spec_;
  ArmTable arms_;
  std::unique_ptr<policies::BanditLearner> learner_;
  std::int64_t most_waiting_;
  std::int64_t session_ = 0;
  std::uint64_t run_steps_ = 0;
  std::map<std::int64_t, LoggedEvent> waiting_;  ///< by number, with action and propensity of this policy
};

}  // namespace stein::replay
