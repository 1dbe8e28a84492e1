// Regressions of the reward on the context and the features of arms whose coefficients are independent a posteriori:
// what a diagonal Laplace approximation keeps, in place of the factors of linear_regressions.h.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/linear_regressions.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::policies {

/// Mean m_j and precision q_j of every coefficient, with w the row of an interaction as in LinearRegressions: d numbers
/// x in the columns of its arm's own coefficients, k numbers z_a in the shared ones. Predictions and interactions cost
/// O(d + k) an arm; memory is two numbers a coefficient, of all arms.
class DiagonalRegressions {
 public:
  using Setup = LinearRegressions::Setup;            ///< `prior_squares` play no part
  using Prediction = LinearRegressions::Prediction;  ///< Σ_j w_j m_j and Σ_j w_j² / q_j

  /// Throws Error(usage) naming the option `regression` where it needs features that arms do not have, and where the
  /// coefficients of all arms would need more than 2 GiB.
  DiagonalRegressions(const envs::BanditSpec& spec, const Setup& setup);

  /// The prediction of every arm that can be chosen, [choices], valid until the next call. Throws Error(usage) for a
  /// context of another shape.
  std::span<const Prediction> predict(const envs::Context& context);
  /// m_j ← m_j + step · w_j / q_j, and then q_j ← q_j + weight · w_j², for the row of the arm. Throws Error(usage) for
  /// a context of another shape or an arm that cannot be chosen.
  void move(const envs::Context& context, std::int64_t arm, double step, double weight);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state has another shape.
  void restore(const Snapshot& snapshot);

 private:
  struct Coefficients {
    std::vector<double> mean, precision;
  };

  /// Writes x to row_.
  void load(const envs::Context& context);
  /// Writes z_a of the arm in a place behind x in row_.
  void multiply_features(const envs::Context& context, std::size_t place);

  envs::BanditSpec spec_;
  bool intercept_;
  std::size_t context_columns_;  ///< of x
  std::size_t own_columns_;      ///< d
  std::size_t shared_columns_;   ///< k
  Coefficients own_, shared_;    ///< [arms · d] and [k]
  std::vector<double> row_;      ///< x, then z_a
  std::vector<Prediction> predictions_;
};

}  // namespace stein::policies
