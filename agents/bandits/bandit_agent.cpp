#include <stein/agents/bandits/bandit_agent.h>

#include <stein/core/error.h>

#include <algorithm>
#include <chrono>
#include <numeric>

namespace stein::agents {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

BanditAgent::Timing& BanditAgent::Timing::operator+=(const Timing& other) {
  deciding_seconds += other.deciding_seconds;
  learning_seconds += other.learning_seconds;
  decisions += other.decisions;
  updates += other.updates;
  return *this;
}

double BanditAgent::Timing::decisions_per_second() const {
  return decisions > 0 ? static_cast<double>(decisions) / deciding_seconds : 0;
}

double BanditAgent::Timing::updates_per_second() const {
  return updates > 0 ? static_cast<double>(updates) / learning_seconds : 0;
}

BanditAgent::BanditAgent(const Options& options, std::uint64_t seed,
                         std::unique_ptr<envs::BanditEnvironment> environment,
                         std::unique_ptr<policies::BanditPolicy> policy)
    : options_(checked(options)),
      seed_(seed),
      environment_(std::move(environment)),
      policy_(std::move(policy)),
      window_(environment_->spec(), options.buffer, options.batch),
      forced_(static_cast<std::size_t>(environment_->spec().arms)) {}

const Interaction& BanditAgent::step() {
  const std::int64_t step = steps_done_;
  try {
    const envs::Context context = environment_->observe(seed_, step);
    const policies::Decision decision = decide(context);
    take(decision);
    learn_from(context);
  } catch (const Error& error) {
    fail(error.kind(), "seed {}, interaction {}: {}", seed_, step, error.what());
  }
  return last_;
}

void BanditAgent::take(const policies::Decision& decision) {
  const double reward = environment_->reward(decision.action);
  const std::span<const double> expected = environment_->expected_rewards();
  const double best = std::ranges::max(expected);
  const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / static_cast<double>(expected.size());
  last_ = {.step = steps_done_,
           .row = environment_->row(),
           .action = decision.action,
           .reward = reward,
           .expected_rewards = expected,
           .propensities = decision.propensities,
           .deterministic = decision.deterministic,
           .regret = last_.regret + (best - expected[static_cast<std::size_t>(decision.action)]),
           .uniform_regret = last_.uniform_regret + (best - mean),
           .total_reward = last_.total_reward + reward};
  ++steps_done_;
}

policies::Decision BanditAgent::decide(const envs::Context& context) {
  const std::int64_t arms = environment_->spec().arms;
  if (steps_done_ < options_.forced_pulls * arms) {
    const std::int64_t arm = steps_done_ % arms;
    std::ranges::fill(forced_, 0.0);
    forced_[static_cast<std::size_t>(arm)] = 1;
    return {.action = arm, .propensities = forced_, .deterministic = true};
  }
  const auto start = Clock::now();
  const policies::Decision decision = policy_->decide(context, steps_done_);
  timing_.deciding_seconds += seconds_since(start);
  ++timing_.decisions;
  return decision;
}

void BanditAgent::learn_from(const envs::Context& context) {
  const auto start = Clock::now();
  policy_->observe(context, last_.action, last_.reward);
  if (policy_->learns_from_minibatches()) {
    window_.append(context, last_.action, last_.reward);
    if (steps_done_ % options_.learn_every == 0) learn();
  }
  timing_.learning_seconds += seconds_since(start);
}

void BanditAgent::learn() {
  for (std::int64_t remaining = updates_now(); remaining > 0; --remaining) {
    policy_->learn(window_.draw(seed_, static_cast<std::uint64_t>(updates_done_)));
    ++updates_done_;
    ++timing_.updates;
  }
}

std::int64_t BanditAgent::updates_now() const {
  if (options_.rows_per_update == 0) return options_.updates;
  return std::clamp<std::int64_t>(window_.rows() / options_.rows_per_update, 1, options_.updates);
}

void BanditAgent::save(Snapshot& snapshot) const {
  snapshot.put("steps", steps_done_);
  snapshot.put("updates", updates_done_);
  snapshot.put("regret", last_.regret);
  snapshot.put("uniform_regret", last_.uniform_regret);
  snapshot.put("total_reward", last_.total_reward);
  Snapshot part;
  window_.save(part);
  snapshot.put_part("window", part);
  part = {};
  policy_->save(part);
  snapshot.put_part("policy", part);
}

void BanditAgent::restore(const Snapshot& snapshot) {
  window_.restore(snapshot.part("window"));
  policy_->restore(snapshot.part("policy"));
  steps_done_ = snapshot.get_scalar<std::int64_t>("steps");
  updates_done_ = snapshot.get_scalar<std::int64_t>("updates");
  last_ = {.step = steps_done_ - 1,
           .regret = snapshot.get_scalar<double>("regret"),
           .uniform_regret = snapshot.get_scalar<double>("uniform_regret"),
           .total_reward = snapshot.get_scalar<double>("total_reward")};
}

}  // namespace stein::agents
