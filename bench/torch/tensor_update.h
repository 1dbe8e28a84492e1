// The updates of `stein bench sampler` in LibTorch's tensor operations: in place, with no tensor made on the way.
#pragma once

#include <stein/bench/torch/parameter_update.h>
#include <stein/inference/samplers/diffusion.h>
#include <stein/inference/samplers/optimizer.h>

namespace stein::bench {

/// What both forms of an update start from: random values, gradients, and positive states, [1, size] each.
class UpdateVectors {
 public:
  UpdateVectors(std::int64_t size, std::size_t states);
  inference::MatrixView<float> values() { return view(values_); }
  inference::MatrixView<const float> values() const { return {values_.data(), 1, size_}; }
  inference::MatrixView<float> gradients() { return view(gradients_); }
  inference::MatrixView<float> state(std::size_t k) { return view(states_[k]); }

 private:
  inference::MatrixView<float> view(inference::AlignedBuffer<float>& buffer) const { return {buffer.data(), 1, size_}; }

  std::int64_t size_;
  inference::AlignedBuffer<float> values_, gradients_;
  std::vector<inference::AlignedBuffer<float>> states_;
};

/// What an update of Bayes by Backprop multiplies with.
struct BackpropNumbers {
  double step_size;        ///< h of SGD without momentum
  double prior_precision;  ///< λ
};
/// The key of its noise at update t, where both forms draw the same.
inline NoiseKey backprop_noise(std::uint64_t t) {
  return {.seed = 1, .step = t, .stream = Stream::parameterization};
}

/// Momentum SGD, RMSprop or Adam.
std::unique_ptr<ParameterUpdate> make_tensor_update(const inference::OptimizerOptions& options, std::int64_t size);

/// SGLD, pSGLD, SGHMC, SGNHT, or Santa with symmetric splitting (all of it that follows the gradient).
/// Throws Error(usage) for another dynamics.
std::unique_ptr<ParameterUpdate> make_tensor_update(inference::Dynamics dynamics,
                                                    const inference::DiffusionNumbers& numbers, std::int64_t size);

/// Bayes by Backprop with the divergence in closed form: μ and ρ of `size` weights are its values.
std::unique_ptr<ParameterUpdate> make_tensor_update(const BackpropNumbers& numbers, std::int64_t size, Noise noise);

}  // namespace stein::bench
