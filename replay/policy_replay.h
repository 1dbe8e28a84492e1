// A policy against a log: where both choose the same arm, the log says what came of it.
#pragma once

#include <stein/core/options.h>
#include <stein/policies/bandit_learner.h>
#include <stein/replay/judged_policy.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stein::replay {

/// When the policy learns what came of a choice.
struct DeliveryOptions {
  std::int64_t delay = 0;          ///< events until an outcome is known
  std::int64_t deliver_every = 1;  ///< events from one delivery to the next

  bool at_once() const { return delay == 0 && deliver_every == 1; }

  template <class V>
  void describe(V& v) {
    v("delay", delay, "events until the outcome of an accepted one is known", between(0, 1e9), "events");
    v("deliver_every", deliver_every, "outcomes are delivered together, once in so many events", between(1, 1e9),
      "events");
  }
};

/// Replay (Li, Chu, Langford & Wang 2011, "Unbiased offline evaluation of contextual-bandit-based news article
/// recommendation algorithms", algorithm 2): an event is accepted where the policy chooses the arm that was logged, and
/// only from accepted events the policy learns. If arms were logged uniformly at random, accepted events are what the
/// policy would have met in life, and their mean reward is its own without bias.
///
/// It is the stream of accepted events that is the policy's life: a policy that learns from T of them stands where it
/// would after T interactions.
class PolicyReplay : public JudgedPolicy {
 public:
  PolicyReplay(std::unique_ptr<policies::BanditLearner> learner, const DeliveryOptions& delivery,
               const std::optional<ConfidenceSequence>& sequence);

  const policies::BanditLearner& learner() const { return *learner_; }
  policies::BanditLearner& learner() { return *learner_; }
  std::int64_t forced() const override { return learner_->forced(); }
  std::int64_t foresee(std::span<const LoggedEvent> events) override;
  std::optional<double> temperature() const override { return learner_->policy().temperature(); }
  std::optional<std::string> warning() const override { return learner_->policy().warning(); }

 private:
  /// An outcome that is not known yet.
  struct Waiting {
    LoggedEvent event;
    std::int64_t due;
  };
  Choice choose(const LoggedEvent& event, policies::Propensities wanted) override;
  void save_policy(Snapshot& snapshot) const override;
  void restore_policy(const Snapshot& snapshot) override;
  void deliver();
  /// How many events it decides, from the next one on, before it can learn anything.
  std::int64_t events_until_learning() const;
  void learn(const LoggedEvent& event);

  std::unique_ptr<policies::BanditLearner> learner_;
  DeliveryOptions delivery_;
  std::deque<Waiting> waiting_;
};

/// The same of a policy that does not learn, and whose outcomes are known at once.
class StationaryReplay final : public PolicyReplay {
 public:
  StationaryReplay(std::unique_ptr<policies::BanditLearner> learner, const std::optional<ConfidenceSequence>& sequence)
      : PolicyReplay(std::move(learner), {}, sequence) {}

  bool sees_arm_features() const override { return false; }
};

}  // namespace stein::replay
