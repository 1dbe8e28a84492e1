#include <stein/core/error.h>
#include <stein/policies/bandit_learner.h>

#include <algorithm>
#include <chrono>

namespace stein::policies {
namespace {

using Clock = std::chrono::steady_clock;

/// Looking at the clock takes as long as a tenth of a linear policy's decision. A prime, so that the decisions that are
/// timed do not all follow an update or begin what was foreseen, which makes them longer.
constexpr std::int64_t timed_decision = 31;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

BanditLearner::Timing& BanditLearner::Timing::operator+=(const Timing& other) {
  deciding_seconds += other.deciding_seconds;
  learning_seconds += other.learning_seconds;
  timed_decisions += other.timed_decisions;
  decisions += other.decisions;
  updates += other.updates;
  return *this;
}

double BanditLearner::Timing::decisions_per_second() const {
  return timed_decisions > 0 ? static_cast<double>(timed_decisions) / deciding_seconds : 0;
}

double BanditLearner::Timing::updates_per_second() const {
  return updates > 0 ? static_cast<double>(updates) / learning_seconds : 0;
}

BanditLearner::BanditLearner(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                             std::unique_ptr<BanditPolicy> policy)
    : options_(checked(options)),
      spec_(spec),
      seed_(seed),
      policy_(std::move(policy)),
      window_(spec, options.buffer, options.batch),
      pulls_(static_cast<std::size_t>(spec.arms)) {}

Decision BanditLearner::decide(const envs::Context& context, Propensities wanted) {
  if (const std::int64_t place = forced_place(context); place >= 0) {
    ++decisions_, ++forced_decisions_;
    Decision decision{.action = context.arm(place), .deterministic = true};
    if (wanted == Propensities::exact) {
      forced_.assign(static_cast<std::size_t>(context.choices(spec_)), 0);
      forced_[static_cast<std::size_t>(place)] = 1;
      decision.propensities = forced_;
    }
    return decision;
  }
  return choose(context, wanted);
}

Decision BanditLearner::choose(const envs::Context& context, Propensities wanted) {
  const std::int64_t number = decisions_++;
  if (timing_.decisions++ % timed_decision != 0) return policy_->decide(context, number, wanted);
  const auto start = Clock::now();
  const Decision decision = policy_->decide(context, number, wanted);
  timing_.deciding_seconds += seconds_since(start);
  ++timing_.timed_decisions;
  return decision;
}

std::int64_t BanditLearner::forced_place(const envs::Context& context) const {
  std::int64_t place = -1, least = options_.forced_pulls;
  if (least == 0) return place;
  for (std::int64_t k = 0; k < context.choices(spec_); ++k)
    if (const std::int64_t pulls = pulls_[static_cast<std::size_t>(context.arm(k))]; pulls < least)
      least = pulls, place = k;
  return place;
}

void BanditLearner::learn(const envs::Context& context, const Outcome& outcome) {
  const auto start = Clock::now();
  Outcome weighted = outcome;
  if (options_.importance_weights)
    weighted.weight = std::min(outcome.weight / outcome.propensity, options_.largest_weight);
  ++outcomes_;
  policy_->observe(context, weighted);
  if (policy_->learns_from_minibatches()) {
    window_.append(context, weighted);
    if (outcomes_ % options_.learn_every == 0) update();
    if (const std::int64_t every = policy_->revisits_every(); every > 0 && outcomes_ % every == 0)
      policy_->revisit(window_.all());
  }
  timing_.learning_seconds += seconds_since(start);
}

void BanditLearner::update() {
  for (std::int64_t remaining = updates_now(); remaining > 0; --remaining) {
    policy_->learn(window_.draw(seed_, static_cast<std::uint64_t>(updates_)));
    ++updates_;
    ++timing_.updates;
  }
}

std::int64_t BanditLearner::updates_now() const {
  if (options_.rows_per_update == 0) return options_.updates;
  return std::clamp<std::int64_t>(window_.rows() / options_.rows_per_update, 1, options_.updates);
}

void BanditLearner::save(Snapshot& snapshot) const {
  snapshot.put("steps", decisions_);
  snapshot.put("forced", forced_decisions_);
  snapshot.put("outcomes", outcomes_);
  snapshot.put("pulls", pulls_);
  snapshot.put("updates", updates_);
  snapshot.put_saved("window", window_);
  snapshot.put_saved("policy", *policy_);
}

void BanditLearner::restore(const Snapshot& snapshot) {
  window_.restore(snapshot.part("window"));
  policy_->restore(snapshot.part("policy"));
  decisions_ = snapshot.get_scalar<std::int64_t>("steps");
  updates_ = snapshot.get_scalar<std::int64_t>("updates");
  forced_decisions_ = snapshot.contains("forced") ? snapshot.get_scalar<std::int64_t>("forced") : 0;
  if (snapshot.contains("pulls")) {
    outcomes_ = snapshot.get_scalar<std::int64_t>("outcomes");
    snapshot.get("pulls", std::span(pulls_));
  } else {  // older checkpoints, where every decision had its outcome, and the first ones took all arms in turn
    outcomes_ = decisions_;
    const auto arms = std::ssize(pulls_);
    for (std::int64_t arm = 0; arm < arms; ++arm)
      pulls_[static_cast<std::size_t>(arm)] = std::min(options_.forced_pulls, (decisions_ + arms - 1 - arm) / arms);
  }
}

}  // namespace stein::policies
