#include <stein/agents/bandits/bandit_agent.h>
#include <stein/core/error.h>

#include <algorithm>
#include <numeric>

namespace stein::agents {

BanditAgent::BanditAgent(const policies::BanditLearner::Options& options, std::uint64_t seed,
                         std::unique_ptr<envs::BanditEnvironment> environment,
                         std::unique_ptr<policies::BanditPolicy> policy)
    : seed_(seed),
      environment_(std::move(environment)),
      learner_(options, environment_->spec(), seed, std::move(policy)) {}

const Interaction& BanditAgent::step() {
  const std::int64_t step = steps_done();
  try {
    if (step >= foreseen_end_) foresee(step);
    const envs::Context context = environment_->observe(seed_, step);
    const policies::Decision decision = learner_.decide(context, policies::Propensities::exact);
    take(context, decision, step);
    const std::int64_t place = context.place_of(decision.action, environment_->spec());
    learner_.pulled(decision.action);
    learner_.learn(context, {.action = decision.action,
                             .reward = last_.reward,
                             .propensity = decision.propensities[static_cast<std::size_t>(place)]});
  } catch (const Error& error) {
    fail(error.kind(), "seed {}, interaction {}: {}", seed_, step, error.what());
  }
  return last_;
}

void BanditAgent::foresee(std::int64_t step) {
  constexpr std::int64_t most = 512;  // a launch gains nothing by more
  const std::int64_t count = learner_.policy().foresees() ? std::min(learner_.outcomes_until_update(), most) : 1;
  foreseen_end_ = step + count;
  if (count == 1) return;  // it is asked about when it is decided
  for (std::int64_t ahead = step; ahead < foreseen_end_; ++ahead)
    learner_.policy().foresee(environment_->observe(seed_, ahead));
}

void BanditAgent::take(const envs::Context& context, const policies::Decision& decision, std::int64_t step) {
  const double reward = environment_->reward(decision.action);
  const std::span<const double> expected = environment_->expected_rewards();
  const double best = std::ranges::max(expected);
  const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / static_cast<double>(expected.size());
  last_ = {.step = step,
           .row = environment_->row(),
           .context = context,
           .action = decision.action,
           .reward = reward,
           .expected_rewards = expected,
           .propensities = decision.propensities,
           .deterministic = decision.deterministic,
           .regret = last_.regret + (best - expected[static_cast<std::size_t>(decision.action)]),
           .uniform_regret = last_.uniform_regret + (best - mean),
           .total_reward = last_.total_reward + reward};
}

void BanditAgent::save(Snapshot& snapshot) const {
  learner_.save(snapshot);
  snapshot.put("regret", last_.regret);
  snapshot.put("uniform_regret", last_.uniform_regret);
  snapshot.put("total_reward", last_.total_reward);
}

void BanditAgent::restore(const Snapshot& snapshot) {
  learner_.restore(snapshot);
  foreseen_end_ = steps_done();
  last_ = {.step = steps_done() - 1,
           .regret = snapshot.get_scalar<double>("regret"),
           .uniform_regret = snapshot.get_scalar<double>("uniform_regret"),
           .total_reward = snapshot.get_scalar<double>("total_reward")};
}

}  // namespace stein::agents
