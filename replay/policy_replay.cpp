#include <stein/core/error.h>
#include <stein/replay/policy_replay.h>

#include <string>

namespace stein::replay {

PolicyReplay::PolicyReplay(std::unique_ptr<policies::BanditLearner> learner, const DeliveryOptions& delivery,
                           double low, double high)
    : learner_(std::move(learner)), delivery_(checked(delivery)), accepted_(low, high) {}

bool PolicyReplay::take(const LoggedEvent& event) {
  deliver();
  const policies::Decision decision = learner_->decide(event.context(), policies::Propensities::none);
  ++events_;
  if (decision.action != event.action) return false;
  accepted_.add(event.reward);
  total_reward_ += event.reward;
  if (delivery_.delay == 0 && delivery_.deliver_every == 1)
    learner_->learn(event.context(), {.action = event.action, .reward = event.reward});
  else
    waiting_.push_back({event, events_ + delivery_.delay});
  return true;
}

void PolicyReplay::deliver() {
  if (events_ % delivery_.deliver_every != 0) return;
  for (; !waiting_.empty() && waiting_.front().due <= events_; waiting_.pop_front()) {
    const LoggedEvent& event = waiting_.front().event;
    learner_->learn(event.context(), {.action = event.action, .reward = event.reward});
  }
}

void PolicyReplay::save(Snapshot& snapshot) const {
  Snapshot learner, accepted;
  learner_->save(learner);
  accepted_.save(accepted);
  snapshot.put_part("learner", learner);
  snapshot.put_part("accepted", accepted);
  snapshot.put("events", events_);
  snapshot.put("total_reward", total_reward_);
  snapshot.put("waiting", static_cast<std::int64_t>(waiting_.size()));
  for (std::size_t k = 0; k < waiting_.size(); ++k) {
    const auto& [event, due] = waiting_[k];
    Snapshot part;
    part.put("due", due);
    part.put("numbers", std::vector<double>{event.reward, event.propensity});
    part.put("action", event.action);
    part.put("dense", event.dense);
    part.put("present", event.present);
    part.put("arm_features", event.arm_features);
    snapshot.put_part("waiting" + std::to_string(k), part);
  }
}

void PolicyReplay::restore(const Snapshot& snapshot) {
  learner_->restore(snapshot.part("learner"));
  accepted_.restore(snapshot.part("accepted"));
  events_ = snapshot.get_scalar<std::int64_t>("events");
  total_reward_ = snapshot.get_scalar<double>("total_reward");
  waiting_.clear();
  const auto count = snapshot.get_scalar<std::int64_t>("waiting");
  for (std::int64_t k = 0; k < count; ++k) {
    const Snapshot part = snapshot.part("waiting" + std::to_string(k));
    const auto numbers = part.get_vector<double>("numbers");
    if (numbers.size() != 2) fail(ErrorKind::data, "a saved outcome has {} numbers, expected 2", numbers.size());
    waiting_.push_back({.event = {.dense = part.get_vector<float>("dense"),
                                  .present = part.get_vector<std::int32_t>("present"),
                                  .arm_features = part.get_vector<float>("arm_features"),
                                  .action = part.get_scalar<std::int64_t>("action"),
                                  .reward = numbers[0],
                                  .propensity = numbers[1]},
                        .due = part.get_scalar<std::int64_t>("due")});
  }
}

}  // namespace stein::replay
