// Enters LibTorch's form of a network's parts, once this library is loaded.
#include <stein/inference/targets/reference_arithmetic.h>
#include <stein/torch/image_network.h>
#include <stein/torch/matrix_gaussian_reference.h>
#include <stein/torch/particle_mlp_reference.h>
#include <stein/torch/recurrent_reference.h>
#include <stein/torch/tensor_threads.h>

namespace stein::inference {
namespace {

/// LibTorch's own threads would wait for each other inside every thread of ours.
std::unique_ptr<Model<float>> make_perceptron(const MlpSpec& network) {
  [[maybe_unused]] static const bool one_thread = (set_tensor_threads(1), true);
  return std::make_unique<ParticleMlpReference<float>>(network);
}

std::unique_ptr<Parameterization<float>> make_matrix_gaussian(const Layout& weights,
                                                              const MatrixGaussianOptions& options) {
  return std::make_unique<MatrixGaussianReference<float>>(weights, options);
}

[[maybe_unused]] const bool registered = reference_arithmetics().add(
    "torch", {make_perceptron, make_matrix_gaussian, make_recurrent_reference, make_image_network, set_tensor_threads});

}  // namespace
}  // namespace stein::inference
