// What the outputs of a network say of the targets: log-likelihood, and its gradient with respect to the outputs.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>

namespace stein::inference::fused {

/// Sums over some rows of a batch.
struct LikelihoodSums {
  double value = 0;                ///< (N/n) Σ w log p
  double log_noise_precision = 0;  ///< derivative of `value` by log γ
};

/// Rows first … first + count of `batch`: reads outputs [count, ·] and writes scaled ∂ value/∂ outputs, zeros where an
/// output is masked or padding. `noise_precision` is γ of a Gaussian likelihood.
LikelihoodSums likelihood_gradient(const MlpSpec& spec, const Batch<float>& batch, std::int64_t first,
                                   std::int64_t count, double noise_precision, const float* outputs,
                                   std::int64_t stride, float* gradient);

}  // namespace stein::inference::fused
