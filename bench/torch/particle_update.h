// One update of the particles of a perceptron by SVGD or S2VGD (gradients of all particles, kernel, Adam): as Stein
// makes it, and the same on LibTorch autograd, batched over particles.
#pragma once

#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/inference/targets/network_posterior.h>
#include <stein/torch/matrix_gaussian_reference.h>
#include <stein/torch/particle_mlp_reference.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace stein::bench {

/// As `svgd` and `s2vgd` make it.
class FusedParticleUpdate {
 public:
  FusedParticleUpdate(const inference::NetworkPosteriorOptions& options, const inference::MlpSpec& network,
                      std::int64_t particles);
  void step(const inference::Batch<float>& batch) { sampler_.step(particles_, *posterior_, batch); }
  const inference::Particles<float>& particles() const { return particles_; }

 private:
  std::unique_ptr<inference::Posterior<float>> posterior_;
  inference::Particles<float> particles_;
  inference::Svgd<float> sampler_;
};

/// Adam with its defaults, in tensor operations.
class TensorAdam {
 public:
  explicit TensorAdam(const inference::Particles<float>& particles);
  /// Moves the values along a direction, both [M, Q].
  void step(at::Tensor& values, const at::Tensor& direction);

 private:
  at::Tensor mean_, square_;
  double updates_ = 0;
};

/// In tensor operations: autograd for the likelihood, a few matrix products for the rest. Every coordinate has a prior
/// of precision 1.
class TensorParticleUpdate {
 public:
  /// @param start  the particles, at least two
  TensorParticleUpdate(const inference::NetworkPosteriorOptions& options, const inference::MlpSpec& network,
                       const inference::Particles<float>& start);
  void step(const inference::Batch<float>& batch);
  const inference::Particles<float>& particles() const { return particles_; }

 private:
  void evaluate(const inference::Batch<float>& batch);

  inference::ParticleMlpReference<float> model_;
  std::unique_ptr<inference::MatrixGaussianReference<float>> structure_;
  std::unique_ptr<inference::ForwardTrace> trace_;
  inference::Particles<float> particles_;
  std::unique_ptr<inference::Particles<float>> weights_;
  TensorAdam adam_;
};

/// exp(−‖x_i − x_j‖²/h)/M of the rows of `values` with the median's bandwidth h; h is written to `bandwidth`.
at::Tensor median_kernel(const at::Tensor& values, double& bandwidth);

/// Throws Error(numeric) naming the benchmark unless both moved from `start` by the same, to 1 % of how far they went:
/// float sums in another order, and Adam magnifies what is nearly zero.
void check_same_way(std::string_view benchmark, const inference::Particles<float>& start,
                    const inference::Particles<float>& ours, const inference::Particles<float>& reference);

/// Multiplications and additions that a particle's gradient asks for, whatever the implementation: products of matrices
/// in both directions but for the gradient by the inputs.
/// @param ones  of one-hot inputs the ones a row; 0: dense inputs
double gradient_operations(const inference::MlpSpec& network, std::int64_t rows, std::int64_t ones = 0);

/// Those of an update of all particles: gradients, factors of the weights if there are any, kernel, direction, Adam.
/// @param coordinates  of a particle
double update_operations(const inference::NetworkPosteriorOptions& options, const inference::MlpSpec& network,
                         std::int64_t particles, std::int64_t coordinates, double gradient_operations);

}  // namespace stein::bench
