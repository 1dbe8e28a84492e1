// Thompson sampling with a Beta posterior of every arm (Thompson 1933, "On the likelihood that one unknown probability
// exceeds another"; Chapelle & Li 2011, "An empirical evaluation of Thompson sampling", algorithm 2).
#pragma once

#include <stein/policies/bandit_policy.h>
#include <stein/policies/beta.h>

#include <cstdint>
#include <vector>

namespace stein::policies {

/// Arm a pays 1 with a probability of its own, whatever the context; a priori that is Beta(α, β), after S successes and
/// F failures Beta(α + S, β + F). Pulls the arm of the largest draw, one for every arm; the propensities are integrals
/// over the densities, to 1e-8. An interaction of weight w counts as w successes or failures.
///
/// A reward r in [0, 1] that is neither 0 nor 1 counts as a success with probability r, else as a failure (Agrawal &
/// Goyal 2012, "Analysis of Thompson sampling for the multi-armed bandit problem", algorithm 2): one toss an
/// interaction, keyed by the number of the interaction.
class BetaTs final : public BanditPolicy {
 public:
  /// The prior.
  struct Options {
    double prior_successes = 1;  ///< α
    double prior_failures = 1;   ///< β
    template <class V>
    void describe(V& v) {
      v("prior_successes", prior_successes, "successes that every arm starts with", between(0.01, 1e9), "interactions");
      v("prior_failures", prior_failures, "failures that every arm starts with", between(0.01, 1e9), "interactions");
    }
  };

  /// Throws Error(usage) naming the bandit where expected rewards lie outside [0, 1].
  BetaTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  /// Throws Error(usage) for a reward outside [0, 1], too.
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// 1: decisions are draws from the exact posterior.
  std::optional<double> temperature() const override { return 1; }
  /// 100 draws of the success probability of every arm that can be chosen.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;
  /// The posterior of every arm that can be chosen, [choices], valid until the next call or decision.
  std::span<const Beta> posterior(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot) override;

 private:
  Options options_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::vector<double> successes_, failures_;  ///< [arms] sums of weights
  std::uint64_t observed_ = 0;                ///< interactions
  std::vector<Beta> posterior_;
  std::vector<double> draws_, propensities_;
  LargestProbability<BetaDensity> quadrature_;
};

}  // namespace stein::policies
