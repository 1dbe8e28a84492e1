#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/fused/student_t_draws.h>
#include <stein/policies/lin_ts.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<LinTs>("lints", "Thompson sampling with a Bayesian linear regression");

}  // namespace

LinTs::LinTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : prior_shape_(options.prior_shape),
      prior_rate_(options.prior_rate),
      seed_(seed),
      regressions_(spec, {.form = options.regression,
                          .intercept = options.intercept,
                          .prior_precision = options.prior_precision,
                          .prior_squares = options.scale_rewards ? 0 : 2 * options.prior_rate}) {
  if (options.scale_rewards) unit_.emplace(spec);
  first_unit_ = unit_;
}

std::span<const StudentT> LinTs::posterior(const envs::Context& context) {
  const auto predictions = regressions_.predict(context);
  const double unit = unit_ ? unit_->value() : 0, prior_rate = prior_rate_ * unit * unit;
  posterior_.resize(predictions.size());
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    const std::int64_t arm = context.arm(static_cast<std::int64_t>(place));
    const double shape = prior_shape_ + 0.5 * regressions_.observations(arm);
    const double rate = prior_rate + 0.5 * regressions_.squares(arm);
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
  const std::size_t choices = posterior_.size();
  Decision decision;
  if (wanted == Propensities::exact) {
    propensities_.resize(choices);
    decision.propensities = propensities_;
  }
  double widest = 0;
  for (const StudentT& reward : posterior_) widest = std::max(widest, reward.scale);
  if (widest == 0) {  // every row is 0: every arm's expected reward is known to be 0
    if (wanted == Propensities::exact) std::ranges::fill(propensities_, 1.0 / static_cast<double>(choices));
    decision.action = context.arm(Draws(key, 0).integer(static_cast<std::uint32_t>(choices)));
    return decision;
  }
  rows_.resize(choices);
  draws_.resize(choices);
  for (std::size_t place = 0; place < choices; ++place) {
    rows_[place] = static_cast<std::uint32_t>(context.arm(static_cast<std::int64_t>(place)));
    // An arm that is known to pay 0 is as narrow as the propensities can tell.
    if (posterior_[place].scale == 0) posterior_[place].scale = 1e-9 * widest;
  }
  fused::draw_each({.variables = posterior_, .key = key, .rows = rows_, .values = draws_});
  decision.action = context.arm(std::ranges::max_element(draws_) - draws_.begin());
  if (wanted == Propensities::exact) largest_probabilities(posterior_, propensities_, quadrature_);
  return decision;
}

void LinTs::observe(const envs::Context& context, const Outcome& outcome) {
  regressions_.observe(context, outcome.action, outcome.reward, outcome.weight);
  if (unit_) unit_->observe(outcome.reward);
}

void LinTs::revisit(const InteractionBatch& window) {
  regressions_.make_anew(window);
  if (!unit_) return;
  unit_ = first_unit_;
  for (const float reward : window.rewards) unit_->observe(double{reward});
}

std::vector<std::vector<double>> LinTs::posterior_rewards(const envs::Context& context) {
  return draw_samples(posterior(context), reported_samples, seed_);
}

void LinTs::save(Snapshot& snapshot) const {
  regressions_.save(snapshot);
  if (unit_) unit_->save(snapshot);
}

void LinTs::restore(const Snapshot& snapshot) {
  regressions_.restore(snapshot);
  if (unit_) unit_->restore(snapshot);
}

}  // namespace stein::policies
