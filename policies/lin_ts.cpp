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
      regressions_(spec, options.intercept, options.prior_precision, 2 * options.prior_rate),
      posterior_(static_cast<std::size_t>(spec.arms)),
      propensities_(posterior_.size()) {}

std::span<const StudentT> LinTs::posterior(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  for (std::size_t arm = 0; arm < posterior_.size(); ++arm) {
    const auto index = static_cast<std::int64_t>(arm);
    const double shape = prior_shape_ + 0.5 * static_cast<double>(regressions_.observations(index));
    const double rate = 0.5 * regressions_.squares(index);
    posterior_[arm] = {.degrees = 2 * shape,
                       .location = predictions[arm].mean,
                       .scale = std::sqrt(rate / shape * predictions[arm].leverage)};
    if (!std::isfinite(posterior_[arm].location) || !std::isfinite(posterior_[arm].scale))
      fail(ErrorKind::numeric,
           "lints: the reward of arm {} has posterior mean {} and scale {}; expected finite numbers", arm,
           posterior_[arm].location, posterior_[arm].scale);
  }
  return posterior_;
}

Decision LinTs::decide(const envs::Context& context, std::int64_t step) {
  posterior(context);
  const NoiseKey key{seed_, static_cast<std::uint64_t>(step), Stream::decision};
  if (posterior_.front().scale == 0) {  // x = 0: every arm's expected reward is known to be 0
    std::fill(propensities_.begin(), propensities_.end(), 1.0 / static_cast<double>(propensities_.size()));
    const std::uint32_t action = Draws(key, 0).integer(static_cast<std::uint32_t>(propensities_.size()));
    return {.action = action, .propensities = propensities_};
  }
  std::int64_t action = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t arm = 0; arm < posterior_.size(); ++arm) {
    Draws draws(key, static_cast<std::uint32_t>(arm));
    const double value = draw(posterior_[arm], draws);
    if (value > largest) largest = value, action = static_cast<std::int64_t>(arm);
  }
  largest_probabilities(posterior_, propensities_);
  return {.action = action, .propensities = propensities_};
}

void LinTs::observe(const envs::Context& context, std::int64_t action, double reward) {
  regressions_.observe(context, action, reward);
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
