#include <stein/core/rng.h>
#include <stein/policies/lin_ucb.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<LinUcb>("linucb", "the largest upper confidence bound of a linear regression an arm");

}  // namespace

LinUcb::LinUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : alpha_(options.alpha),
      seed_(seed),
      regressions_(spec, options.intercept, options.prior_precision, 0),
      bounds_(static_cast<std::size_t>(spec.arms)),
      propensities_(bounds_.size()) {}

std::span<const double> LinUcb::bounds(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  for (std::size_t arm = 0; arm < bounds_.size(); ++arm)
    bounds_[arm] = predictions[arm].mean + alpha_ * std::sqrt(predictions[arm].leverage);
  return bounds_;
}

Decision LinUcb::decide(const envs::Context& context, std::int64_t step) {
  bounds(context);
  const double largest = *std::max_element(bounds_.begin(), bounds_.end());
  const auto equals = std::count(bounds_.begin(), bounds_.end(), largest);
  for (std::size_t arm = 0; arm < bounds_.size(); ++arm)
    propensities_[arm] = bounds_[arm] == largest ? 1.0 / static_cast<double>(equals) : 0.0;
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  return {.action = static_cast<std::int64_t>(draws.categorical(propensities_)),
          .propensities = propensities_,
          .deterministic = equals == 1};
}

void LinUcb::observe(const envs::Context& context, std::int64_t action, double reward) {
  regressions_.observe(context, action, reward);
}

void LinUcb::save(Snapshot& snapshot) const {
  regressions_.save(snapshot);
}

void LinUcb::restore(const Snapshot& snapshot) {
  regressions_.restore(snapshot);
}

}  // namespace stein::policies
