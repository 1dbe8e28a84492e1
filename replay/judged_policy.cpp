#include <stein/replay/judged_policy.h>

namespace stein::replay {

Choice JudgedPolicy::take(const LoggedEvent& event, policies::Propensities wanted) {
  const Choice choice = decide(event, wanted);
  count(event.reward, choice.accepted);
  return choice;
}

Choice JudgedPolicy::decide(const LoggedEvent& event, policies::Propensities wanted) {
  const Choice choice = choose(event, wanted);
  ++decided_;
  return choice;
}

void JudgedPolicy::count(double reward, bool accepted) {
  ++events_;
  if (!accepted) return;
  ++accepted_;
  reward_ += reward;
  mean_.add({.numerator = reward});
  if (sequence_) sequence_->add(reward);
}

std::optional<Interval> JudgedPolicy::interval() const {
  return sequence_ ? std::optional(sequence_->interval()) : std::nullopt;
}

void JudgedPolicy::save(Snapshot& snapshot) const {
  Snapshot policy, mean;
  save_policy(policy), mean_.save(mean);
  snapshot.put_part("policy", policy), snapshot.put_part("mean", mean);
  snapshot.put("events", events_);
  snapshot.put("accepted", accepted_);
  snapshot.put("reward", reward_);
  if (!sequence_) return;
  snapshot.put_saved("sequence", *sequence_);
}

void JudgedPolicy::restore(const Snapshot& snapshot) {
  decided_ = events_ = snapshot.get_scalar<std::int64_t>("events");
  accepted_ = snapshot.get_scalar<std::int64_t>("accepted");
  reward_ = snapshot.get_scalar<double>("reward");
  if (sequence_) sequence_->restore(snapshot.part("sequence"));
  mean_.restore(snapshot.part("mean"));
  restore_policy(snapshot.part("policy"));
}

}  // namespace stein::replay
