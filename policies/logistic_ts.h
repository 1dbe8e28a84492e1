// Thompson sampling with Bayesian logistic regression in Laplace's approximation, renewed with every interaction
// (Chapelle & Li 2011, "An empirical evaluation of Thompson sampling", algorithm 3).
#pragma once

#include <stein/policies/bandit_policy.h>
#include <stein/policies/diagonal_regressions.h>
#include <stein/policies/linear_regressions.h>
#include <stein/policies/student_t.h>

#include <cstdint>
#include <variant>
#include <vector>

namespace stein::policies {

/// What of the posterior precision of the coefficients is kept.
enum class Covariance {
  diagonal,  ///< its diagonal, as in the paper
  full,      ///< all of it
};

/// The η of the largest log σ(±η)·weight − (η − location)² / (2 variance), σ(η) = 1 / (1 + e^−η), + for a success: the
/// mode of the log odds η after one reward. Newton's method to rounding. @param variance  ≥ 0
double logistic_mode(double location, double variance, double weight, bool success);

/// A reward is 1 with probability σ(w·γ), else 0, with w the row of an interaction in the regressions; a priori
/// γ ~ N(0, I/λ). The posterior is held as N(m, Q⁻¹). With a reward r of weight u the mode becomes
///   m′ = argmin ½ (γ − m)ᵀQ(γ − m) − u log p(r | w·γ) = m + u (r − p) Q⁻¹w,  p = σ(w·m′),
/// which is one equation for w·m′ (`logistic_mode`), and then Q ← Q + u p (1 − p) w wᵀ, or the diagonal of that. An
/// interaction is seen once, so the mode is not that of all interactions together: Q stays as it was when they came.
/// With all of Q this is an observation of w·m′ + (r − p) / (p (1 − p)), of weight u p (1 − p), to a ridge regression,
/// which keeps Q as a triangular factor.
///
/// Pulls the arm of the largest log odds w_a·γ, drawn once for every arm and independent of each other, as LinTs does:
/// with disjoint regressions that is one draw of all coefficients, with shared ones it leaves out that arms have
/// coefficients in common. The propensities are integrals over those normal densities, to 1e-8.
class LogisticTs final : public BanditPolicy {
 public:
  /// The prior.
  struct Options {
    double prior_precision = 1;  ///< λ
    bool intercept = true;
    Covariance covariance = Covariance::diagonal;
    RegressionForm regression = RegressionForm::disjoint;
    template <class V>
    void describe(V& v) {
      v("prior_precision", prior_precision, "precision of the coefficients before any reward", positive);
      v("intercept", intercept, "whether a constant 1 is added to the context");
      v("covariance", covariance,
        "what is kept of the posterior precision of the coefficients: diagonal, O(columns) an arm, or full, "
        "O(columns^2)",
        {{"diagonal", Covariance::diagonal}, {"full", Covariance::full}});
      describe_regression(v, regression);
    }
  };

  /// Throws Error(usage) naming the bandit where expected rewards lie outside [0, 1].
  LogisticTs(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  /// Throws Error(usage) for a reward other than 0 and 1, too.
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// 1: decisions are draws from an approximation of the posterior, not from a tempered one.
  std::optional<double> temperature() const override { return 1; }
  /// 100 draws of the expected reward of every arm that can be chosen.
  std::vector<std::vector<double>> posterior_rewards(const envs::Context& context) override;
  /// The posterior of the log odds of every arm that can be chosen, [choices], normal (infinite degrees), valid until
  /// the next call or decision. A scale is 0 where the arm's row in the regressions is all zeros.
  std::span<const StudentT> posterior(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  using Regressions = std::variant<DiagonalRegressions, LinearRegressions>;
  static Regressions make_regressions(const Options& options, const envs::BanditSpec& spec);

  envs::BanditSpec spec_;
  std::uint64_t seed_;
  Regressions regressions_;
  std::vector<StudentT> posterior_;
  std::vector<double> propensities_;
  LargestProbability<StudentTDensity> quadrature_;
};

}  // namespace stein::policies
