#include <stein/core/error.h>
#include <stein/policies/largest_bound.h>
#include <stein/policies/lin_ucb.h>

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
  return choose_largest(context, bounds_, {seed_, static_cast<std::uint64_t>(step), Stream::decision}, wanted,
                        propensities_);
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
