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

  /// Makes its choice of the next event, and counts it. Throws Error(numeric) where the policy left the finite numbers.
  Choice take(const LoggedEvent& event, policies::Propensities wanted = policies::Propensities::none);
  /// The same in two steps, the second of which may come later, and on other ranks, which then know all that is asked
  /// for below but where the policy itself stands.
  Choice decide(const LoggedEvent& event, policies::Propensities wanted);
  void count(double reward, bool accepted);

  /// Events that it decides next: looks at the first of them, all that it decides before it learns anything more.
  /// Returns after how many it is to be shown the next ones, at least 1.
  virtual std::int64_t foresee(std::span<const LoggedEvent> events) { return std::ssize(events); }

  /// Events that were counted.
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
  /// Whether its choices, or what it saves, depend on the features of arms.
  virtual bool sees_arm_features() const { return true; }
  /// T of the posterior that it decides by, where it does.
  virtual std::optional<double> temperature() const { return std::nullopt; }
  /// What a person should know of how it went.
  virtual std::optional<std::string> warning() const { return std::nullopt; }

  /// Everything that later choices depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 protected:
  /// @param sequence  without observations yet; none where rewards have no bounds
  explicit JudgedPolicy(const std::optional<ConfidenceSequence>& sequence) : sequence_(sequence) {}

  /// Events in which it made its choice before.
  std::int64_t decided() const { return decided_; }

 private:
  virtual Choice choose(const LoggedEvent& event, policies::Propensities wanted) = 0;
  virtual void save_policy(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore_policy(const Snapshot& snapshot) { static_cast<void>(snapshot); }

  std::optional<ConfidenceSequence> sequence_;
  ValueEstimator mean_;
  std::int64_t decided_ = 0, events_ = 0, accepted_ = 0;
  double reward_ = 0;
};

}  // namespace stein::replay
