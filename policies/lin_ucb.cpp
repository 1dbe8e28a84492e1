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
    : alpha_(options.alpha), seed_(seed), regressions_(spec, options.intercept, options.prior_precision, 0) {}

std::span<const double> LinUcb::bounds(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  bounds_.resize(predictions.size());
  for (std::size_t place = 0; place < bounds_.size(); ++place)
    bounds_[place] = predictions[place].mean + alpha_ * std::sqrt(predictions[place].leverage);
  return bounds_;
}

Decision LinUcb::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  bounds(context);
  const double largest = *std::max_element(bounds_.begin(), bounds_.end());
  const auto equals = std::count(bounds_.begin(), bounds_.end(), largest);
  propensities_.resize(bounds_.size());
  for (std::size_t place = 0; place < bounds_.size(); ++place)
    propensities_[place] = bounds_[place] == largest ? 1.0 / static_cast<double>(equals) : 0.0;
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  Decision decision{.action = context.arm(static_cast<std::int64_t>(draws.categorical(propensities_))),
                    .deterministic = equals == 1};
  if (wanted == Propensities::exact) decision.propensities = propensities_;
  return decision;
}

void LinUcb::observe(const envs::Context& context, const Outcome& outcome) {
  regressions_.observe(context, outcome.action, outcome.reward, outcome.weight);
}

void LinUcb::save(Snapshot& snapshot) const {
  regressions_.save(snapshot);
}

void LinUcb::restore(const Snapshot& snapshot) {
  regressions_.restore(snapshot);
}

}  // namespace stein::policies
