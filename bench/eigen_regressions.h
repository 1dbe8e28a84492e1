// Ridge regressions of arms in Eigen: what the linear policies of `stein bench replay` and the regressions of
// `stein bench neural-linear` are measured against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stein::bench {

/// A⁻¹, b = Σ r x and A⁻¹b of regressions of d columns, one after the other.
struct EigenSums {
  double* inverses;      ///< [regressions][d][d]
  double* moments;       ///< [regressions][d]
  double* coefficients;  ///< [regressions][d]
};

/// A regression that is made anew at times: the Cholesky factor L of A = λI + Σ w wᵀ, b = Σ r w, and L⁻¹b.
class EigenNormalEquations {
 public:
  virtual ~EigenNormalEquations() = default;
  /// Forgets all rows and takes `rows` [count][columns] at once: a product of matrices, and one factorisation.
  virtual void regress(const double* rows, const double* rewards, std::ptrdiff_t count) = 0;
  /// Adds a row: an update of the factor of rank one.
  virtual void observe(const double* row, double reward) = 0;

  /// What it says of a row: w·A⁻¹b and wᵀA⁻¹w.
  struct Prediction {
    double mean, leverage;
  };
  virtual Prediction predict(const double* row) = 0;
  /// Σ r² − bᵀA⁻¹b.
  virtual double squares() const = 0;
};

/// What regressions do, compiled for one instruction set.
struct EigenRegressions {
  std::string instructions;  ///< "AVX2"
  /// x·μ_a and xᵀA_a⁻¹x of every arm that can be chosen, x [columns] the same for all.
  void (*predict_each)(std::ptrdiff_t columns, const EigenSums& sums, const std::int32_t* arms, std::ptrdiff_t choices,
                       const double* x, double* means, double* leverages);
  /// z_a·μ and z_aᵀA⁻¹z_a of every arm, with one regression and `rows` [choices][columns].
  void (*predict_all)(std::ptrdiff_t columns, const EigenSums& sums, std::ptrdiff_t choices, const double* rows,
                      double* means, double* leverages);
  /// Adds a row to a regression (Sherman & Morrison 1950).
  void (*observe)(std::ptrdiff_t columns, const EigenSums& sums, std::ptrdiff_t regression, const double* x,
                  double reward);
  std::unique_ptr<EigenNormalEquations> (*normal_equations)(std::ptrdiff_t columns, double prior_precision);
};

/// Those of the best instruction set that this machine has.
EigenRegressions eigen_regressions();

}  // namespace stein::bench
