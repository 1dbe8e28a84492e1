// One network, one batch: forward, likelihood and backward of a perceptron in SIMD, with everything in the nearer
// caches.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/mlp.h>

#include <cstdint>
#include <vector>

namespace stein::inference::fused {

/// Where the parts of a network lie in a row of (padded) weights.
struct MlpPlan {
  struct Layer {
    std::int64_t inputs, outputs;
    std::int64_t weight, bias;  ///< offsets in the row
    std::int64_t
        stride;  ///< of the rows of the weight matrix; a whole number of vectors unless `outputs` is less than one
  };
  MlpSpec spec;
  std::vector<Layer> layers;
  std::int64_t log_noise_precision = -1;  ///< offset, or −1 where γ is known
};

/// Floats in a vector of the SIMD target in use.
std::int64_t vector_lanes();

/// Writes the gradient of the scaled log-likelihood of `batch` (rows of this network only) in the layout of `weights`,
/// padding zeroed, and returns the log-likelihood itself.
double mlp_pass(const MlpPlan& plan, const float* weights, const Batch<float>& batch, float* gradient);

/// Writes the outputs [n, outputs] of the network for all inputs.
void mlp_forward(const MlpPlan& plan, const float* weights, const Inputs<float>& inputs, MatrixView<float> outputs);

}  // namespace stein::inference::fused
