// The logistic regression of `stein bench nuts` in Eigen: what ours is measured against.
#pragma once

#include <stein/bench/logistic_posterior.h>

#include <string>
#include <vector>

namespace stein::bench {

/// Data of a logistic regression, and room for a number of every row.
struct EigenRows {
  std::int64_t rows, columns;
  const double* inputs;  ///< [columns][rows]
  const double* signs;   ///< [rows] 1 for an answer 0, −1 for an answer 1
  double* odds;          ///< [rows]
  double* rest;          ///< [rows]
};

/// The log density of EigenPosterior, compiled for one instruction set.
struct EigenArithmetic {
  std::string instructions;  ///< "AVX2"
  /// The log density at `weights` [columns]; writes its gradient to `slope` [columns].
  double (*log_density)(const EigenRows& data, const double* weights, double* slope);
  /// Only the two products that a gradient needs: X w, and Xᵀ of that instead of the residuals.
  void (*products)(const EigenRows& data, const double* weights, double* slope);
};

/// Those of the instruction sets that this machine has, best first.
std::vector<EigenArithmetic> eigen_arithmetics();

/// The same posterior as LogisticPosterior; its log density is larger by a constant where rows of ours are padded.
class EigenPosterior final : public inference::Target<double> {
 public:
  explicit EigenPosterior(const LogisticData& data, EigenArithmetic arithmetic = eigen_arithmetics().front());
  const inference::Layout& layout() const override { return layout_; }
  void evaluate(const inference::ParticleRows<const double>& coordinates, const inference::Batch<double>& batch,
                const NoiseKey& noise, const inference::Evaluation<double>& wanted) override;
  /// EigenArithmetic::products at `weights`.
  void products(std::span<const double> weights, std::span<double> slope);
  const std::string& instructions() const { return arithmetic_.instructions; }

 private:
  EigenRows rows();

  EigenArithmetic arithmetic_;
  inference::Layout layout_;
  std::int64_t rows_, columns_;
  inference::AlignedBuffer<double> inputs_, signs_, odds_, rest_;
};

}  // namespace stein::bench
