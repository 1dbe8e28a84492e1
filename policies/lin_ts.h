// Thompson sampling with a Bayesian linear regression for every arm, noise variance unknown (LinFullPost of Riquelme,
// Tucker & Snoek 2018, "Deep Bayesian Bandits Showdown").
#pragma once

#include <stein/policies/arm_regressions.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/student_t.h>

#include <vector>

namespace stein::policies {

/// Prior of every arm: σ² ~ InverseGamma(a₀, b₀), β | σ² ~ N(0, σ²/λ I); rewards r ~ N(x·β, σ²). After n interactions
/// of the arm, with A = λI + Σ x xᵀ and μ = A⁻¹ Σ r x,
///   a = a₀ + n/2,  b = b₀ + ½ min_β (Σ (r − x·β)² + λ‖β‖²),
/// and x·β is Student-t with 2a degrees of freedom, location x·μ and squared scale (b/a) xᵀA⁻¹x. Pulls the arm of the
/// largest draw, one for every arm; the propensities are integrals over those densities, to 1e-8.
class LinTs final : public BanditPolicy {
 public:
  /// The prior.
  struct Options {
    double prior_precision = 0.25;  ///< λ
    double prior_shape = 6;         ///< a₀
    double prior_rate = 6;          ///< b₀
    bool intercept = true;
    template <class V>
    void describe(V& v) {
      v("prior_precision", prior_precision, "precision of the coefficients before any reward, times the noise variance",
        positive);
      v("prior_shape", prior_shape, "a0 of the inverse gamma prior of the noise variance", between(0.5, 1e9));
      v("prior_rate", prior_rate, "b0 of the inverse gamma prior of the noise variance", positive, "reward^2");
      v("intercept", intercept, "whether a constant 1 is added to the context");
    }
  };

  LinTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// 100 draws of the expected reward of every arm that can be chosen.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;
  /// The posterior of the expected reward of every arm that can be chosen, [choices], valid until the next call or
  /// decision. The scales are 0 where the context is all zeros and there is no intercept.
  std::span<const StudentT> posterior(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  double prior_shape_;
  std::uint64_t seed_;
  ArmRegressions regressions_;
  std::vector<StudentT> posterior_;
  std::vector<double> propensities_;
};

}  // namespace stein::policies
