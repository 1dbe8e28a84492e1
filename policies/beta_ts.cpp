#include <stein/core/rng.h>
#include <stein/policies/beta_ts.h>
#include <stein/policies/unit_rewards.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

const bool registered =
    register_bandit_policy<BetaTs>("beta-ts", "Thompson sampling with a Beta posterior of every arm, without context");

}  // namespace

BetaTs::BetaTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : options_(options),
      spec_(spec),
      seed_(seed),
      successes_(static_cast<std::size_t>(spec.arms)),
      failures_(static_cast<std::size_t>(spec.arms)) {
  check_unit_rewards("beta-ts", spec);
}

std::span<const Beta> BetaTs::posterior(const envs::Context& context) {
  context.check(spec_);
  posterior_.resize(static_cast<std::size_t>(context.choices(spec_)));
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    const auto arm = static_cast<std::size_t>(context.arm(static_cast<std::int64_t>(place)));
    posterior_[place] = {.successes = options_.prior_successes + successes_[arm],
                         .failures = options_.prior_failures + failures_[arm]};
  }
  return posterior_;
}

Decision BetaTs::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  posterior(context);
  const NoiseKey key{seed_, static_cast<std::uint64_t>(step), Stream::decision};
  draws_.resize(posterior_.size());
  for (std::size_t place = 0; place < draws_.size(); ++place) {
    Draws draws(key, static_cast<std::uint32_t>(context.arm(static_cast<std::int64_t>(place))));
    draws_[place] = draw_log_odds(posterior_[place], draws);
  }
  Decision decision{.action = context.arm(std::ranges::max_element(draws_) - draws_.begin())};
  if (wanted == Propensities::exact) {
    propensities_.resize(posterior_.size());
    largest_probabilities(posterior_, propensities_, quadrature_);
    decision.propensities = propensities_;
  }
  return decision;
}

void BetaTs::observe(const envs::Context& context, const Outcome& outcome) {
  static_cast<void>(context.place_of(outcome.action, spec_));
  check_unit_reward("beta-ts", spec_, outcome.action, outcome.reward, outcome.weight);
  Draws draws({seed_, observed_++, Stream::sampler}, 0);
  const bool success = draws.uniform() < outcome.reward;  // never for 0, always for 1
  (success ? successes_ : failures_)[static_cast<std::size_t>(outcome.action)] += outcome.weight;
}

std::vector<std::vector<double>> BetaTs::posterior_rewards(const envs::Context& context) {
  posterior(context);
  std::vector<std::vector<double>> samples(reported_samples, std::vector<double>(posterior_.size()));
  for (std::size_t place = 0; place < posterior_.size(); ++place) {
    Draws draws({seed_, 0, Stream::sampler}, static_cast<std::uint32_t>(1 + place));
    for (auto& sample : samples) sample[place] = 1 / (1 + std::exp(-draw_log_odds(posterior_[place], draws)));
  }
  return samples;
}

void BetaTs::save(Snapshot& snapshot) const {
  snapshot.put("successes", successes_);
  snapshot.put("failures", failures_);
  snapshot.put("observed", observed_);
}

void BetaTs::restore(const Snapshot& snapshot) {
  snapshot.get("successes", std::span(successes_));
  snapshot.get("failures", std::span(failures_));
  observed_ = snapshot.get_scalar<std::uint64_t>("observed");
}

}  // namespace stein::policies
