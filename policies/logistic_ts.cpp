#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/policies/logistic_ts.h>
#include <stein/policies/unit_rewards.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<LogisticTs>("logistic-ts", "Thompson sampling with a Bayesian logistic regression");

double chance_of(double log_odds) {
  return 1 / (1 + std::exp(-log_odds));
}

/// With `step` = u (r − p) and `weight` = u p (1 − p), both at the new mode of the log odds.
void add_reward(DiagonalRegressions& regressions, const envs::Context& context, std::int64_t arm, double, double step,
                double weight) {
  regressions.move(context, arm, step, weight);
}

void add_reward(LinearRegressions& regressions, const envs::Context& context, std::int64_t arm, double mode,
                double step, double weight) {
  // Where p rounds to 0 or 1 nothing is added to the precision, but the mode has to move all the same.
  const double positive_weight = std::max(weight, 1e-200);
  regressions.observe(context, arm, mode + step / positive_weight, positive_weight);
}

}  // namespace

double logistic_mode(double location, double variance, double weight, bool success) {
  // A failure is a success of −η. The root of f(z) = z − start − reach σ(−z) lies between start and the first step of a
  // fixed-point iteration from there. f is increasing, convex below 0 and concave above, so that Newton's method from
  // 0, or from the end of the interval next to it, goes to the root without turning back.
  const double start = success ? location : -location, reach = variance * weight;
  double z = std::clamp(0.0, start, start + reach * chance_of(-start));
  for (int iteration = 0; iteration < 1000; ++iteration) {
    const double miss = chance_of(-z);
    const double step = (start + reach * miss - z) / (1 + reach * miss * (1 - miss));
    z += step;
    if (std::abs(step) <= 1e-15 * (std::abs(start) + std::abs(z))) break;
  }
  return success ? z : -z;
}

LogisticTs::Regressions LogisticTs::make_regressions(const Options& options, const envs::BanditSpec& spec) {
  const LinearRegressions::Setup setup{.form = options.regression,
                                       .intercept = options.intercept,
                                       .prior_precision = options.prior_precision,
                                       .prior_squares = 0};
  if (options.covariance == Covariance::full) return Regressions(std::in_place_type<LinearRegressions>, spec, setup);
  return Regressions(std::in_place_type<DiagonalRegressions>, spec, setup);
}

LogisticTs::LogisticTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : spec_(spec), seed_(seed), regressions_(make_regressions(options, spec)) {
  check_unit_rewards("logistic-ts", spec);
}

std::span<const StudentT> LogisticTs::posterior(const envs::Context& context) {
  const auto predictions = std::visit([&](auto& regressions) { return regressions.predict(context); }, regressions_);
  posterior_.resize(predictions.size());
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    StudentT& log_odds = posterior_[place];
    log_odds = {.degrees = std::numeric_limits<double>::infinity(),
                .location = predictions[place].mean,
                .scale = std::sqrt(predictions[place].leverage)};
    if (!std::isfinite(log_odds.location) || !std::isfinite(log_odds.scale))
      fail(ErrorKind::numeric,
           "logistic-ts: the log odds of arm {} have posterior mean {} and sd {}; expected finite numbers",
           context.arm(static_cast<std::int64_t>(place)), log_odds.location, log_odds.scale);
  }
  return posterior_;
}

Decision LogisticTs::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  posterior(context);
  double widest = 0;
  for (const StudentT& log_odds : posterior_) widest = std::max(widest, log_odds.scale);
  // Log odds that are known to be 0 are as narrow as the propensities can tell; if all are, any scale makes arms equal.
  for (StudentT& log_odds : posterior_) log_odds.scale = widest > 0 ? std::max(log_odds.scale, 1e-9 * widest) : 1;
  const NoiseKey key{seed_, static_cast<std::uint64_t>(step), Stream::decision};
  Decision decision;
  double largest = -std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    const std::int64_t arm = context.arm(static_cast<std::int64_t>(place));
    Draws draws(key, static_cast<std::uint32_t>(arm));
    const double value = draw(posterior_[place], draws);
    if (value > largest) largest = value, decision.action = arm;
  }
  if (wanted == Propensities::exact) {
    propensities_.resize(posterior_.size());
    largest_probabilities(posterior_, propensities_, quadrature_);
    decision.propensities = propensities_;
  }
  return decision;
}

void LogisticTs::observe(const envs::Context& context, const Outcome& outcome) {
  const auto& [arm, reward, propensity, weight] = outcome;
  context.check(spec_);
  const std::int64_t place = context.place_of(arm, spec_);
  check_unit_reward("logistic-ts", spec_, arm, reward, weight);
  STEIN_CHECK(reward == 0 || reward == 1, "policy 'logistic-ts' needs rewards 0 and 1, arm {} of {} paid {}", arm,
              spec_.name, reward);
  const auto present = static_cast<std::int32_t>(arm);
  envs::Context alone = context;
  alone.present = std::span(&present, 1);
  if (spec_.arm_features > 0)
    alone.arm_features = context.arm_features.subspan(static_cast<std::size_t>(place * spec_.arm_features),
                                                      static_cast<std::size_t>(spec_.arm_features));
  const StudentT before = posterior(alone).front();
  const double mode = logistic_mode(before.location, before.scale * before.scale, weight, reward == 1);
  const double miss = chance_of(reward == 1 ? -mode : mode);  // |r − p|, also where it is far below 1
  const double step = weight * (reward == 1 ? miss : -miss);
  std::visit([&](auto& regressions) { add_reward(regressions, alone, arm, mode, step, weight * miss * (1 - miss)); },
             regressions_);
}

std::vector<std::vector<double>> LogisticTs::posterior_rewards(const envs::Context& context) {
  auto samples = draw_samples(posterior(context), reported_samples, seed_);
  for (auto& sample : samples)
    for (double& value : sample) value = chance_of(value);
  return samples;
}

void LogisticTs::save(Snapshot& snapshot) const {
  std::visit([&](const auto& regressions) { regressions.save(snapshot); }, regressions_);
}

void LogisticTs::restore(const Snapshot& snapshot) {
  std::visit([&](auto& regressions) { regressions.restore(snapshot); }, regressions_);
}

}  // namespace stein::policies
