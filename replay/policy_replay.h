// A policy against a log: where both choose the same arm, the log says what came of it.
#pragma once

#include <stein/policies/bandit_learner.h>
#include <stein/replay/confidence_sequence.h>
#include <stein/replay/logged_event.h>

#include <cstdint>
#include <deque>
#include <memory>

namespace stein::replay {

/// When the policy learns what came of a choice.
struct DeliveryOptions {
  std::int64_t delay = 0;          ///< events until an outcome is known
  std::int64_t deliver_every = 1;  ///< events from one delivery to the next

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
class PolicyReplay {
 public:
  /// @param low, high  between which rewards lie
  PolicyReplay(std::unique_ptr<policies::BanditLearner> learner, const DeliveryOptions& delivery, double low,
               double high);

  /// Lets the policy choose; whether the event was accepted. Throws Error(numeric) where the policy left the finite
  /// numbers.
  bool take(const LoggedEvent& event);

  std::int64_t events() const { return events_; }
  std::int64_t accepted() const { return accepted_.count(); }
  double total_reward() const { return total_reward_; }
  /// Of accepted events, with its confidence sequence.
  const ConfidenceSequence& reward() const { return accepted_; }
  const policies::BanditLearner& learner() const { return *learner_; }
  policies::BanditLearner& learner() { return *learner_; }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  /// An outcome that is not known yet.
  struct Waiting {
    LoggedEvent event;
    std::int64_t due;
  };
  void deliver();

  std::unique_ptr<policies::BanditLearner> learner_;
  DeliveryOptions delivery_;
  ConfidenceSequence accepted_;
  std::int64_t events_ = 0;
  double total_reward_ = 0;
  std::deque<Waiting> waiting_;
};

}  // namespace stein::replay
