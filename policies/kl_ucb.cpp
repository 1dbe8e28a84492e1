#include <stein/core/rng.h>
#include <stein/policies/kl_ucb.h>
#include <stein/policies/largest_bound.h>
#include <stein/policies/unit_rewards.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<KlUcb>(
    "kl-ucb", "the largest upper confidence bound by the divergence of coins, without context");

}  // namespace

double bernoulli_upper_bound(double mean, double level) {
  const double rest = 1 - mean;
  if (level <= 0 || rest <= 0) return mean;
  if (mean == 0) return -std::expm1(-level);
  double low = 0, high = std::min(rest, std::sqrt(level / 2)), excess = high;  // of the bound over the mean
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double divergence = -mean * std::log1p(excess / mean) - rest * std::log1p(-excess / rest);
    (divergence > level ? high : low) = excess;
    const double slope = excess / ((mean + excess) * (rest - excess));
    const double newton = excess - (divergence - level) / slope;
    if (std::abs(newton - excess) <= 1e-15 * excess) break;
    excess = newton > low && newton < high ? newton : low + (high - low) / 2;  // also where the divergence is infinite
  }
  return std::min(1.0, mean + excess);
}

KlUcb::KlUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : c_(options.c),
      spec_(spec),
      seed_(seed),
      pulls_(static_cast<std::size_t>(spec.arms)),
      rewards_(static_cast<std::size_t>(spec.arms)) {
  check_unit_rewards("kl-ucb", spec);
}

std::span<const double> KlUcb::bounds(const envs::Context& context) {
  context.check(spec_);
  const double logarithm = std::log(1 + total_);
  const double level = logarithm + c_ * std::log(std::max(1.0, logarithm));
  bounds_.resize(static_cast<std::size_t>(context.choices(spec_)));
  for (std::size_t place = 0; place < bounds_.size(); ++place) {
    const auto arm = static_cast<std::size_t>(context.arm(static_cast<std::int64_t>(place)));
    bounds_[place] = pulls_[arm] > 0
                         ? bernoulli_upper_bound(std::min(1.0, rewards_[arm] / pulls_[arm]), level / pulls_[arm])
                         : std::numeric_limits<double>::infinity();
  }
  return bounds_;
}

Decision KlUcb::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  bounds(context);
  return choose_largest(context, bounds_, {seed_, static_cast<std::uint64_t>(step), Stream::decision}, wanted,
                        propensities_);
}

void KlUcb::observe(const envs::Context& context, const Outcome& outcome) {
  static_cast<void>(context.place_of(outcome.action, spec_));
  check_unit_reward("kl-ucb", spec_, outcome.action, outcome.reward, outcome.weight);
  const auto arm = static_cast<std::size_t>(outcome.action);
  pulls_[arm] += outcome.weight;
  rewards_[arm] += outcome.weight * outcome.reward;
  total_ += outcome.weight;
}

void KlUcb::save(Snapshot& snapshot) const {
  snapshot.put("pulls", pulls_);
  snapshot.put("rewards", rewards_);
  snapshot.put("total", total_);
}

void KlUcb::restore(const Snapshot& snapshot) {
  snapshot.get("pulls", std::span(pulls_));
  snapshot.get("rewards", std::span(rewards_));
  total_ = snapshot.get_scalar<double>("total");
}

}  // namespace stein::policies
