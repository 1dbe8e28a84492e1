// One ridge regression of the reward on the context for every arm, kept as a triangular factor: what LinUCB and
// Bayesian linear Thompson sampling are made of.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::policies {

/// For every arm, with x the context (and a constant 1 after it if `intercept`), A = λI + Σ x xᵀ and b = Σ r x, each
/// over the arm's own interactions: the coefficients μ = A⁻¹ b, never formed, and what they leave unexplained.
///
/// Kept is the Cholesky factor of [A b; bᵀ s₀ + Σ r²]. An interaction is one sweep of Givens rotations over it (Golub &
/// Van Loan, Matrix Computations, 4th ed., 6.5.4), O(d²), backward stable for any number of them; its last row is
/// (L⁻¹b)ᵀ and its last entry the root of `squares`, so nothing is obtained as a difference of large numbers.
class ArmRegressions {
 public:
  /// Starts at μ = 0 with `prior_precision` λ > 0 and `prior_squares` s₀ ≥ 0.
  /// Throws Error(usage) where the factors would need more than 2 GiB.
  ArmRegressions(const envs::BanditSpec& spec, bool intercept, double prior_precision, double prior_squares);

  /// What a regression says of a context x.
  struct Prediction {
    double mean = 0;      ///< x·μ
    double leverage = 0;  ///< xᵀA⁻¹x
  };
  /// The prediction of every arm that can be chosen, [choices], valid until the next call. Throws Error(usage) for a
  /// context of another shape.
  std::span<const Prediction> predict(const envs::Context& context);
  /// Adds an interaction, as often as its weight says. Throws Error(usage) for a context of another shape, an arm that
  /// cannot be chosen, a reward that is not finite, or a weight that is not finite and ≥ 0.
  void observe(const envs::Context& context, std::int64_t arm, double reward, double weight = 1);

  /// The sum of the weights of the arm's interactions.
  double observations(std::int64_t arm) const { return observations_[static_cast<std::size_t>(arm)]; }
  /// s₀ + min over β of Σ (r − x·β)² + λ‖β‖².
  double squares(std::int64_t arm) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state has another shape.
  void restore(const Snapshot& snapshot);

 private:
  /// Writes x and `last` behind it to row_.
  void load(const envs::Context& context, double last);
  double* factor(std::size_t arm) { return factors_.data() + arm * order_ * order_; }

  envs::BanditSpec spec_;
  bool intercept_;
  std::size_t order_;                    ///< d + 1
  std::vector<double> factors_;          ///< [arms, column, row], lower triangles
  std::vector<double> observations_;     ///< [arms] sums of weights
  std::vector<Prediction> predictions_;  ///< [arms]
  std::vector<double> row_, work_;       ///< [order]
};

}  // namespace stein::policies
