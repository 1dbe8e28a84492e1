// Bayesian logistic regression on synthetic data as a target in double: what `stein bench nuts` samples.
#pragma once

#include <stein/inference/target.h>

#include <vector>

namespace stein::bench {

/// n rows of d columns drawn from N(0, 1), the first column 1; answers drawn at weights from N(0, 1/d), so that η = X w
/// has about the variance 1 that credit and medical data sets of this size show.
struct LogisticData {
  LogisticData(std::int64_t row_count, std::int64_t column_count, std::uint64_t seed);

  std::int64_t rows, columns;
  std::vector<double> inputs;   ///< [columns][rows]: one column after the other
  std::vector<double> answers;  ///< [rows] 0 or 1
};

/// log p(w) = Σ_i y_i η_i − log(1 + e^η_i) − ‖w‖²/2, η = X w: prior N(0, I). Value and gradient in one pass: a block of
/// rows stays in the first-level cache between X w and Xᵀ(y − p).
class LogisticPosterior final : public inference::Target<double> {
 public:
  explicit LogisticPosterior(const LogisticData& data);
  const inference::Layout& layout() const override { return layout_; }
  void evaluate(const inference::ParticleRows<const double>& coordinates, const inference::Batch<double>& batch,
                const NoiseKey& noise, const inference::Evaluation<double>& wanted) override;

 private:
  inference::Layout layout_;
  std::int64_t columns_, blocks_;
  inference::AlignedBuffer<double> inputs_, answers_;  ///< block by block, a block column by column; rows padded
};

}  // namespace stein::bench
