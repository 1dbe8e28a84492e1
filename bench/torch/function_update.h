// One update of particles by function-space SVGD in LibTorch's tensor operations, batched over particles.
#pragma once

#include <stein/bench/torch/particle_update.h>

#include <vector>

namespace stein::bench {

/// What `function-svgd` does with a Gaussian likelihood of precision 1: one forward pass with autograd, the kernel of
/// the predictions, one backward pass, Adam. Every coordinate has a prior of precision 1.
class TensorFunctionUpdate {
 public:
  /// @param start  particles of a perceptron with ReLU: weight, bias, weight, bias, …; at least two
  explicit TensorFunctionUpdate(const inference::Particles<float>& start);
  void step(const inference::Batch<float>& batch);
  const inference::Particles<float>& particles() const { return particles_; }

 private:
  inference::Particles<float> particles_;
  std::vector<at::Tensor> weights_, gradients_;  ///< [M, rows, columns] views of particles_, entry by entry
  TensorAdam adam_;
};

}  // namespace stein::bench
