#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/lin_ucb.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<LinUcb>("linucb", "the largest upper confidence bound of a linear regression");

}  // namespace

LinUcb::LinUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : alpha_(options.alpha),
      seed_(seed),
      regressions_(spec, {.form = options.regression,
                          .intercept = options.intercept,
                          .prior_precision = options.prior_precision,
                          .prior_squares = 0}) {
  if (options.scale_rewards) unit_.emplace(spec);
}

std::span<const double> LinUcb::bounds(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  const double width = unit_ ? alpha_ * unit_->value() : alpha_;
  bounds_.resize(predictions.size());
  for (std::size_t place = 0; place < bounds_.size(); ++place) {
    bounds_[place] = predictions[place].mean + width * std::sqrt(predictions[place].leverage);
    if (!std::isfinite(bounds_[place]))
      fail(ErrorKind::numeric, "linucb: the bound of arm {} is {}; expected a finite number",
           context.arm(static_cast<std::int64_t>(place)), bounds_[place]);
  }
  return bounds_;
}

Decision LinUcb::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  bounds(context);
  double largest = bounds_.front();
  for (const double bound : bounds_) largest = std::max(largest, bound);  // without a branch, unlike max_element
  const auto best = std::ranges::find(bounds_, largest);
  const bool alone = std::find(best + 1, bounds_.end(), largest) == bounds_.end();
  Decision decision{.action = context.arm(best - bounds_.begin()), .deterministic = alone};
  if (alone && wanted == Propensities::none) return decision;
  const double share = alone ? 1 : 1.0 / static_cast<double>(std::ranges::count(bounds_, largest));
  propensities_.resize(bounds_.size());
  for (std::size_t place = 0; place < bounds_.size(); ++place)
    propensities_[place] = bounds_[place] == largest ? share : 0.0;
  if (!alone) {
    Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
    decision.action = context.arm(static_cast<std::int64_t>(draws.categorical(propensities_)));
  }
  if (wanted == Propensities::exact) decision.propensities = propensities_;
  return decision;
}

void LinUcb::observe(const envs::Context& context, const Outcome& outcome) {
  regressions_.observe(context, outcome.action, outcome.reward, outcome.weight);
  if (unit_) unit_->observe(outcome.reward);
}

void LinUcb::save(Snapshot& snapshot) const {
  regressions_.save(snapshot);
  if (unit_) unit_->save(snapshot);
}

void LinUcb::restore(const Snapshot& snapshot) {
  regressions_.restore(snapshot);
  if (unit_) unit_->restore(snapshot);
}

}  // namespace stein::policies
