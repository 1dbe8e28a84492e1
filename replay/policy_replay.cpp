#include <stein/core/error.h>
#include <stein/replay/policy_replay.h>

#include <algorithm>
#include <utility>

namespace stein::replay {
PolicyReplay::PolicyReplay(std::unique_ptr<policies::BanditLearner> learner, const DeliveryOptions& delivery,
                           const std::optional<ConfidenceSequence>& sequence)
    : JudgedPolicy(sequence), learner_(std::move(learner)), delivery_(checked(delivery)) {}

std::int64_t PolicyReplay::foresee(std::span<const LoggedEvent> events) {
  if (!learner_->policy().foresees()) return std::ssize(events);
  deliver();
  const std::int64_t count = std::min(events_until_learning(), std::ssize(events));
  if (count < 2) return count;  // one is asked about when it is decided
  for (const LoggedEvent& event : events.first(static_cast<std::size_t>(count)))
    learner_->policy().foresee(event.context());
  return count;
}

std::int64_t PolicyReplay::events_until_learning() const {
  if (delivery_.at_once()) return learner_->outcomes_until_update();
  const std::int64_t due = waiting_.empty() ? decided() + 1 + delivery_.delay : waiting_.front().due;
  const std::int64_t every = delivery_.deliver_every, next = std::max(due, decided() + 1);
  return (next + every - 1) / every * every - decided();
}

Choice PolicyReplay::choose(const LoggedEvent& event, policies::Propensities wanted) {
  deliver();
  const envs::Context context = event.context();
  const policies::Decision decision = learner_->decide(context, wanted);
  Choice choice{.accepted = decision.action == event.action, .propensities = decision.propensities};
  if (wanted == policies::Propensities::exact)
    choice.propensity = decision.propensities[static_cast<std::size_t>(event.place())];
  if (!choice.accepted) return choice;
  learner_->pulled(event.action);
  if (delivery_.at_once())
    learn(event);
  else
    waiting_.push_back({event, decided() + 1 + delivery_.delay});
  return choice;
}

void PolicyReplay::deliver() {
  if (decided() % delivery_.deliver_every != 0) return;
  for (; !waiting_.empty() && waiting_.front().due <= decided(); waiting_.pop_front()) learn(waiting_.front().event);
}

void PolicyReplay::learn(const LoggedEvent& event) {
  learner_->learn(
      event.context(),
      {.action = event.action, .reward = event.reward, .propensity = event.propensity, .weight = event.weight});
}

void PolicyReplay::save_policy(Snapshot& snapshot) const {
  Snapshot waiting;
  snapshot.put_saved("learner", *learner_);
  std::vector<const LoggedEvent*> events;
  std::vector<std::int64_t> due;
  for (const Waiting& one : waiting_) events.push_back(&one.event), due.push_back(one.due);
  save_events(waiting, events);
  snapshot.put_part("waiting", waiting);
  snapshot.put("due", due);
}

void PolicyReplay::restore_policy(const Snapshot& snapshot) {
  learner_->restore(snapshot.part("learner"));
  std::vector<LoggedEvent> events = restored_events(snapshot.part("waiting"));
  const auto due = snapshot.get_vector<std::int64_t>("due");
  if (due.size() != events.size())
    fail(ErrorKind::data, "{} saved outcomes wait, with {} times when they are due", events.size(), due.size());
  waiting_.clear();
  for (std::size_t k = 0; k < due.size(); ++k) waiting_.push_back({std::move(events[k]), due[k]});
}

}  // namespace stein::replay
