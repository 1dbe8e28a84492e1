// Thompson sampling with Bayesian linear regression, noise variance unknown (LinFullPost of Riquelme, Tucker & Snoek
// 2018, "Deep Bayesian Bandits Showdown", has a regression for every arm).
#pragma once

#include <stein/policies/bandit_policy.h>
#include <stein/policies/linear_regressions.h>
#include <stein/policies/reward_unit.h>
#include <stein/policies/student_t.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::policies {

/// Prior: σ² ~ InverseGamma(a₀, b₀), γ | σ² ~ N(0, σ²/λ I); rewards r ~ N(w·γ, σ²), with w the row of an interaction in
/// the regressions. After n interactions, with A = λI + Σ w wᵀ and μ = A⁻¹ Σ r w,
///   a = a₀ + n/2,  b = b₀ + ½ min_γ (Σ (r − w·γ)² + λ‖γ‖²),
/// and w·γ is Student-t with 2a degrees of freedom, location w·μ and squared scale (b/a) wᵀA⁻¹w. Disjoint regressions
/// have a σ² for every arm and count its interactions; the others share one. Pulls the arm of the largest draw, one for
/// every arm, independent of each other; the propensities are integrals over those densities, to 1e-8. With
/// scale_rewards b₀ is in units of the rewards' variance, and another currency changes no decision.
class LinTs final : public BanditPolicy {
 public:
  /// The prior.
  struct Options {
    double prior_precision = 0.25;  ///< λ
    double prior_shape = 6;         ///< a₀
    double prior_rate = 6;          ///< b₀
    bool intercept = true;
    bool scale_rewards = false;
    RegressionForm regression = RegressionForm::disjoint;
    template <class V>
    void describe(V& v) {
      v("prior_precision", prior_precision, "precision of the coefficients before any reward, times the noise variance",
        positive);
      v("prior_shape", prior_shape, "a0 of the inverse gamma prior of the noise variance", between(0.5, 1e9));
      v("prior_rate", prior_rate, "b0 of the inverse gamma prior of the noise variance", positive,
        "reward^2, or variances of rewards");
      v("intercept", intercept, "whether a constant 1 is added to the context");
      v("scale_rewards", scale_rewards,
        "prior_rate is in units of the variance of the rewards of uniformly drawn arms, or of those so far where that "
        "is not known")
          .in_older_runs("false");
      describe_regression(v, regression);
    }
  };

  /// Throws Error(usage) for a prior precision that is not above 0, and for regressions over features of arms
  /// (`regression` common or hybrid) where arms have none.
  LinTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// 1: decisions are draws from the exact posterior.
  std::optional<double> temperature() const override { return 1; }
  /// Forgets all interactions and takes in those of a window, faster than one by one.
  void revisit(const InteractionBatch& window) override;
  /// 100 draws of the expected reward of every arm that can be chosen.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;
  /// The posterior of the expected reward of every arm that can be chosen, [choices], valid until the next call or
  /// decision. A scale is 0 where the arm's row in the regressions is all zeros.
  std::span<const StudentT> posterior(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  double prior_shape_, prior_rate_;
  std::uint64_t seed_;
  std::optional<RewardUnit> unit_;  ///< none: rewards as they come, and the prior's rate is in the regressions' squares
  std::optional<RewardUnit> first_unit_;  ///< before any reward
  LinearRegressions regressions_;
  std::vector<StudentT> posterior_;
  std::vector<std::uint32_t> rows_;  ///< [choices] arms: the rows that draws come from
  std::vector<double> draws_, propensities_;
  LargestProbability<StudentTDensity> quadrature_;
};

}  // namespace stein::policies
