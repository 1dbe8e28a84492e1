#include <stein/core/error.h>
#include <stein/replay/decision_log.h>
#include <stein/replay/served_policy.h>

#include <cmath>
#include <utility>

namespace stein::replay {
namespace {

/// Numbers of decisions are told apart by the session, and fit a double as JSON does.
constexpr std::int64_t decisions_a_session = std::int64_t{1} << 36;

}  // namespace

ServedPolicy::ServedPolicy(envs::BanditSpec spec, ArmTable arms, std::unique_ptr<policies::BanditLearner> learner,
                           std::int64_t most_waiting)
    : spec_(std::move(spec)), arms_(std::move(arms)), learner_(std::move(learner)), most_waiting_(most_waiting) {
  STEIN_CHECK(most_waiting >= 1, "at least one decision waits for its outcome, got {}", most_waiting);
}

ServedPolicy::Answer ServedPolicy::decide(const LoggedEvent& event, bool keep) {
  const envs::Context context = event.context();
  context.check(spec_);
  const std::int64_t id = session_ * decisions_a_session + learner_->decisions();
  const policies::Decision decision = keep ? learner_->decide(context, policies::Propensities::exact)
                                           : learner_->choose(context, policies::Propensities::exact);
  const auto place = static_cast<std::size_t>(context.place_of(decision.action, spec_));
  const Answer answer{.id = id, .decision = decision, .propensity = decision.propensities[place]};
  if (keep) {
    learner_->pulled(decision.action);
    LoggedEvent& kept = waiting_[id] = event;
    kept.action = decision.action, kept.propensity = answer.propensity;
    if (std::ssize(waiting_) > most_waiting_) waiting_.erase(waiting_.begin());
  }
  return answer;
}

void ServedPolicy::learn(std::int64_t id, double reward) {
  const auto place = waiting_.find(id);
  if (place == waiting_.end()) fail(ErrorKind::data, "no decision {} waits for its outcome", id);
  if (!std::isfinite(reward)) fail(ErrorKind::data, "the reward of decision {} must be finite, got {}", id, reward);
  if (spec_.bounded && !(reward >= spec_.reward_low && reward <= spec_.reward_high))
    fail(ErrorKind::data,
         "the reward of decision {} must be between {} and {}, as in what the policy learned from, "
         "got {}",
         id, spec_.reward_low, spec_.reward_high, reward);
  const LoggedEvent event = std::move(waiting_.extract(place).mapped());
  learner_->learn(event.context(), {.action = event.action, .reward = reward, .propensity = event.propensity});
}

std::vector<std::vector<double>> ServedPolicy::posterior_rewards(const envs::Context& context) {
  context.check(spec_);
  return learner_->policy().posterior_rewards(context);
}

std::string ServedPolicy::arm_name(std::int64_t arm) const {
  return arm < arms_.size() ? arms_.name(arm) : name_of_arm(arm, spec_);
}

void ServedPolicy::save(Snapshot& snapshot) const {
  Snapshot waiting;
  std::vector<std::int64_t> ids;
  std::vector<const LoggedEvent*> events;
  for (const auto& [id, event] : waiting_) ids.push_back(id), events.push_back(&event);
  save_events(waiting, events);
  snapshot.put_saved("arms", arms_);
  snapshot.put_saved("learner", *learner_);
  snapshot.put_part("waiting", waiting);
  snapshot.put("waiting_ids", ids);
  snapshot.put("session", session_);
  snapshot.put("run_steps", static_cast<std::int64_t>(run_steps_));
}

void ServedPolicy::restore(const Snapshot& snapshot) {
  arms_.restore(snapshot.part("arms"));
  learner_->restore(snapshot.part("learner"));
  session_ = snapshot.get_scalar<std::int64_t>("session");
  run_steps_ = 0;  // services of older versions did not keep it
  if (snapshot.contains("run_steps"))
    run_steps_ = static_cast<std::uint64_t>(snapshot.get_scalar<std::int64_t>("run_steps"));
  const auto ids = snapshot.get_vector<std::int64_t>("waiting_ids");
  std::vector<LoggedEvent> events = restored_events(snapshot.part("waiting"));
  if (ids.size() != events.size())
    fail(ErrorKind::data, "{} saved decisions wait, with {} numbers", events.size(), ids.size());
  waiting_.clear();
  for (std::size_t k = 0; k < ids.size(); ++k) waiting_.emplace_hint(waiting_.end(), ids[k], std::move(events[k]));
}

}  // namespace stein::replay
