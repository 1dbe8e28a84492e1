// A policy that is judged by a log.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/policies/bandit_policy.h>
#include <stein/replay/confidence_sequence.h>
#include <stein/replay/logged_event.h>
#include <stein/replay/value_estimate.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace stein::replay {

/// What a policy made of an event. Spans are valid until its next one.
struct Choice {
  bool accepted = false;                   ///< it chose the arm that was logged
  bool of_log = false;                     ///< the arm is the log's own choice, not one that met it by chance
  double propensity = 0;                   ///< with which it chooses that arm; where it was asked for
  std::span<const double> propensities{};  ///< [choices], where they were asked for and are known
};

/// Goes along a log and makes its choice of every event.
class JudgedPolicy {
 public:
  virtual ~JudgedPolicy() = default;

  /// Throws Error(numeric) where the policy left the finite numbers.
  Choice take(const LoggedEvent& event, policies::Propensities wanted = policies::Propensities::none);
  /// Counts an event that it took on another rank. Its own state is then that of before, until it is restored.
  void count(const LoggedEvent& event, bool accepted);

  std::int64_t events() const { return events_; }
  std::int64_t accepted() const { return accepted_; }
  /// Sum over accepted events.
  double reward() const { return reward_; }
  /// Events in which it had no choice: the first pulls of arms.
  virtual std::int64_t forced() const { return 0; }
  /// Of accepted events; not a number before there is one.
  double mean_reward() const { return reward_ / static_cast<double>(accepted_); }
  /// The same with the error of large samples.
  ValueEstimate mean() const { return mean_.estimate(); }
  /// Of the mean reward at all times at once, where rewards are bounded.
  std::optional<Interval> interval() const;
  /// What a person should know of how it went.
  virtual std::optional<std::string> warning() const { return std::nullopt; }

  /// Everything that later choices depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 protected:
  /// @param sequence  without observations yet; none where rewards have no bounds
  explicit JudgedPolicy(const std::optional<ConfidenceSequence>& sequence) : sequence_(sequence) {}

 private:
  virtual Choice choose(const LoggedEvent& event, policies::Propensities wanted) = 0;
  virtual void save_policy(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore_policy(const Snapshot& snapshot) { static_cast<void>(snapshot); }

  std::optional<ConfidenceSequence> sequence_;
  ValueEstimator mean_;
  std::int64_t events_ = 0, accepted_ = 0;
  double reward_ = 0;
};

}  // namespace stein::replay
