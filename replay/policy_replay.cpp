#include <stein/replay/policy_replay.h>

#include <string>
#include <utility>

namespace stein::replay {
namespace {

std::string waiting_name(std::size_t k) {
  return "waiting" + std::to_string(k);
}

}  // namespace

PolicyReplay::PolicyReplay(std::unique_ptr<policies::BanditLearner> learner, const DeliveryOptions& delivery,
                           const std::optional<ConfidenceSequence>& sequence)
    : JudgedPolicy(sequence), learner_(std::move(learner)), delivery_(checked(delivery)) {}

Choice PolicyReplay::choose(const LoggedEvent& event, policies::Propensities wanted) {
  deliver();
  const envs::Context context = event.context();
  const policies::Decision decision = learner_->decide(context, wanted);
  Choice choice{.accepted = decision.action == event.action, .propensities = decision.propensities};
  if (wanted == policies::Propensities::exact)
    choice.propensity = decision.propensities[static_cast<std::size_t>(event.place())];
  if (!choice.accepted) return choice;
  const double propensity = wanted == policies::Propensities::exact ? choice.propensity : 1;
  if (delivery_.delay == 0 && delivery_.deliver_every == 1)
    learn(event, propensity);
  else
    waiting_.push_back({event, propensity, events() + 1 + delivery_.delay});
  return choice;
}

void PolicyReplay::deliver() {
  if (events() % delivery_.deliver_every != 0) return;
  for (; !waiting_.empty() && waiting_.front().due <= events(); waiting_.pop_front())
    learn(waiting_.front().event, waiting_.front().propensity);
}

void PolicyReplay::learn(const LoggedEvent& event, double propensity) {
  learner_->learn(event.context(),
                  {.action = event.action, .reward = event.reward, .propensity = propensity, .weight = event.weight});
}

void PolicyReplay::save_policy(Snapshot& snapshot) const {
  Snapshot learner;
  learner_->save(learner);
  snapshot.put_part("learner", learner);
  snapshot.put("waiting", static_cast<std::int64_t>(waiting_.size()));
  for (std::size_t k = 0; k < waiting_.size(); ++k) {
    Snapshot part, event;
    waiting_[k].event.save(event);
    part.put_part("event", event);
    part.put("propensity", waiting_[k].propensity);
    part.put("due", waiting_[k].due);
    snapshot.put_part(waiting_name(k), part);
  }
}

void PolicyReplay::restore_policy(const Snapshot& snapshot) {
  learner_->restore(snapshot.part("learner"));
  waiting_.clear();
  const auto count = snapshot.get_scalar<std::int64_t>("waiting");
  for (std::int64_t k = 0; k < count; ++k) {
    const Snapshot part = snapshot.part(waiting_name(static_cast<std::size_t>(k)));
    waiting_.push_back({.event = {},
                        .propensity = part.get_scalar<double>("propensity"),
                        .due = part.get_scalar<std::int64_t>("due")});
    waiting_.back().event.restore(part.part("event"));
  }
}

}  // namespace stein::replay
