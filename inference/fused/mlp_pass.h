// One network, one batch: forward, likelihood and backward of a perceptron in SIMD, with everything in the nearer
// caches.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::inference::fused {

/// Where the parts of a network lie in a row of (padded) weights.
struct MlpPlan {
  /// Sizes and places of one layer.
  struct Layer {
    std::int64_t inputs, outputs;
    std::int64_t weight, bias;  ///< offsets in the row
    std::int64_t
        stride;  ///< of the rows of the weight matrix; a whole number of vectors unless `outputs` is less than one
    std::int64_t transposed;  ///< offset among the transposes of the network's matrices
  };
  MlpSpec spec;
  std::vector<Layer> layers;
  std::int64_t transposed_size = 0;       ///< of the transposes, each [outputs, inputs padded to whole vectors]
  std::int64_t constants = -1;            ///< offset, or −1 where there are none
  std::int64_t log_noise_precision = -1;  ///< offset, or −1 where γ is known
};

/// Rows of a batch that go through the network together: activations of a few hundred numbers stay in the second-level
/// cache.
constexpr std::int64_t chunk_rows = 128;
/// Up to so many inputs go through the networks of all particles one by one: repacking and idle tiles would cost more
/// than they save.
constexpr std::int64_t few_rows = 4;

/// One-hot rows turned over: for every chunk and every input, which rows of the chunk have a one there.
class OneHotColumns {
 public:
  /// From the positions of the ones [n, A], each in [0, inputs).
  void assign(const MatrixView<const std::int32_t>& indices, std::int64_t inputs);

  /// Where the rows of each input of a chunk begin in `rows()`, [inputs + 1].
  std::span<const std::int32_t> starts(std::int64_t chunk) const {
    return {starts_.data() + static_cast<std::size_t>(chunk) * (inputs_ + 1), inputs_ + 1};
  }
  const std::int32_t* rows() const { return rows_.data(); }

 private:
  std::vector<std::int32_t> starts_, rows_;
  std::size_t inputs_ = 0;
};

/// Floats in a vector of the SIMD target in use.
std::int64_t vector_lanes();

/// Some rows of a batch: a whole number of chunks from `first` on.
struct BatchPart {
  std::int64_t first, count;
};

/// Numbers of a layer's transpose; SIMD targets differ.
std::int64_t transposed_floats(std::int64_t inputs, std::int64_t outputs);

/// What of a network is wanted turned over.
enum class Transposes {
  forward,   ///< matrices narrower than a vector
  backward,  ///< those, and all behind the first layer
};

/// Writes transposes of the network's matrices to `transposed` [plan.transposed_size], once for all passes of a batch.
void transpose_weights(const MlpPlan& plan, const float* weights, Transposes which, float* transposed);

/// Writes the gradient of the scaled log-likelihood of these rows of `batch` (rows of this network only) in the layout
/// of `weights`, padding zeroed, and returns the log-likelihood itself. `columns` turns over the inputs of `batch` if
/// they are one-hot. Where `gradient` is null, the network only goes forward.
/// @param transposed  the weights turned over, for the way that is wanted
double mlp_pass(const MlpPlan& plan, const float* weights, const float* transposed, const Batch<float>& batch,
                BatchPart part, const OneHotColumns& columns, float* gradient);

/// Writes the outputs [M·n, outputs] of the networks with `weights` [M, P] for all n inputs, those of network 0 first.
void mlp_forward(const MlpPlan& plan, const MatrixView<const float>& weights, const Inputs<float>& inputs,
                 MatrixView<float> outputs);

}  // namespace stein::inference::fused
