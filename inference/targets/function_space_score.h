// Stein variational gradient descent between functions: what particles predict is pushed apart, not their weights.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/targets/function_kernel.h>

#include <vector>

namespace stein::inference {

/// Function-space SVGD (Wang, Ren, Zhu & Zhang 2019, "Function space particle optimization"; D'Angelo & Fortuin 2021,
/// "Repulsive deep ensembles are Bayesian"). With f_i the predictions of particle i on a minibatch, k the kernel
/// between them and ℓ the log-likelihood, the score of particle i has the slope
///   v_i = Σ_j [k(f_j, f_i) (N/n) ∇ℓ(f_j) + ∇_{f_j} k(f_j, f_i)] / Σ_j k(f_j, f_i)
/// by its predictions, which a model pulls back to the weights, J_iᵀ v_i; the prior of the weights stands beside it.
class FunctionSpaceScore final : public OutputScore<float> {
 public:
  /// @throws Error(usage) for a linear kernel, under which functions attract one another
  explicit FunctionSpaceScore(const SvgdKernelOptions& kernel) : kernel_(kernel) {}

  /// Prepares the slopes of all particles on a batch, whose targets and row weights are the same for all of them, or of
  /// each of them, and which chooses one output a row.
  /// @param predictions  [M·n, K], rows of particle 0 first
  /// @param likelihood   gaussian (of precision 1: row weights bring another) or bernoulli
  void prepare(const Batch<float>& batch, MatrixView<const float> predictions, Likelihood likelihood);

  bool has_value() const override { return false; }
  double score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
               std::span<const float> constants, MatrixView<float> gradient,
               std::span<float> constant_gradient) const override;

 private:
  FunctionKernel kernel_;
  Matrix<float> functions_, likelihood_slopes_, slopes_;  ///< [M, n]
  std::vector<std::int32_t> outputs_;                     ///< [n] that are scored
};

}  // namespace stein::inference
