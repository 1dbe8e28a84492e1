#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/lin_ts.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<LinTs>("lints", "Thompson sampling with a Bayesian linear regression an arm");

constexpr std::size_t report_samples = 100;

}  // namespace

LinTs::LinTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : prior_shape_(options.prior_shape),
      seed_(seed),
      regressions_(spec, options.intercept, options.prior_precision, 2 * options.prior_rate) {}

std::span<const StudentT> LinTs::posterior(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  posterior_.resize(predictions.size());
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    const std::int64_t arm = context.arm(static_cast<std::int64_t>(place));
    const double shape = prior_shape_ + 0.5 * regressions_.observations(arm);
    const double rate = 0.5 * regressions_.squares(arm);
    StudentT& reward = posterior_[place];
    reward = {.degrees = 2 * shape,
              .location = predictions[place].mean,
              .scale = std::sqrt(rate / shape * predictions[place].leverage)};
    if (!std::isfinite(reward.location) || !std::isfinite(reward.scale))
      fail(ErrorKind::numeric,
           "lints: the reward of arm {} has posterior mean {} and scale {}; expected finite numbers", arm,
           reward.location, reward.scale);
  }
  return posterior_;
}

Decision LinTs::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  posterior(context);
  const NoiseKey key{seed_, static_cast<std::uint64_t>(step), Stream::decision};
  Decision decision;
  if (wanted == Propensities::exact) {
    propensities_.resize(posterior_.size());
    decision.propensities = propensities_;
  }
  if (posterior_.front().scale == 0) {  // x = 0: every arm's expected reward is known to be 0
    std::ranges::fill(propensities_, 1.0 / static_cast<double>(posterior_.size()));
    decision.action = context.arm(Draws(key, 0).integer(static_cast<std::uint32_t>(posterior_.size())));
    return decision;
  }
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    const std::int64_t arm = context.arm(static_cast<std::int64_t>(place));
    Draws draws(key, static_cast<std::uint32_t>(arm));
    const double value = draw(posterior_[place], draws);
    if (value > largest) largest = value, decision.action = arm;
  }
  if (wanted == Propensities::exact) largest_probabilities(posterior_, propensities_);
  return decision;
}

void LinTs::observe(const envs::Context& context, const Outcome& outcome) {
  regressions_.observe(context, outcome.action, outcome.reward, outcome.weight);
}

std::vector<std::vector<double>> LinTs::posterior_rewards(const envs::Context& context) {
  posterior(context);
  std::vector<std::vector<double>> samples(report_samples, std::vector<double>(posterior_.size()));
  for (std::size_t arm = 0; arm < posterior_.size(); ++arm) {
    Draws draws({seed_, 0, Stream::sampler}, static_cast<std::uint32_t>(arm));
    for (auto& sample : samples) sample[arm] = draw(posterior_[arm], draws);
  }
  return samples;
}

void LinTs::save(Snapshot& snapshot) const {
  regressions_.save(snapshot);
}

void LinTs::restore(const Snapshot& snapshot) {
  regressions_.restore(snapshot);
}

}  // namespace stein::policies
