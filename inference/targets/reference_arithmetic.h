// The parts of a network's posterior in another library's arithmetic, for whoever compares: entered by stein::torch.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/model.h>
#include <stein/inference/models/image_network_spec.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/parameterization.h>
#include <stein/inference/parameterizations/matrix_gaussian_layout.h>

#include <memory>

namespace stein::inference {

/// Makes the references of the perceptron, of matrix-Gaussian weights and of recurrent networks: the same numbers, by
/// automatic differentiation; the last of them also on a GPU.
struct ReferenceArithmetic {
  std::unique_ptr<Model<float>> (*make_perceptron)(const MlpSpec&) = nullptr;
  std::unique_ptr<Parameterization<float>> (*make_matrix_gaussian)(const Layout& weights,
                                                                   const MatrixGaussianOptions&) = nullptr;
  std::unique_ptr<Model<float>> (*make_recurrent)(const RecurrentSpec&, Device) = nullptr;
  /// Networks that read images have no other form.
  std::unique_ptr<Model<float>> (*make_image_network)(const ImageNetworkSpec&, Device) = nullptr;
  /// Threads of the library's own pool, for this process.
  void (*set_threads)(int count) = nullptr;
};

/// Reference arithmetics by the library that they come from; empty until one is loaded.
Registry<ReferenceArithmetic>& reference_arithmetics();

/// That of stein::torch, which is loaded for it. Throws Error(usage) where Stein was built without LibTorch.
const ReferenceArithmetic& torch_arithmetic();

}  // namespace stein::inference
