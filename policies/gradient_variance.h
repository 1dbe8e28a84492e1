// How uncertain a network is by its gradient: what NeuralUCB and neural Thompson sampling explore by.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/layout.h>
#include <stein/inference/model.h>
#include <stein/inference/parameterizations/saved_weights.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/weight_driver.h>

#include <cstdint>

namespace stein::policies {

/// With g the gradient of an output by all weights and m the width of the last hidden layer, σ² = λ gᵀ Z⁻¹ g / m, where
/// Z = λI + Σ g gᵀ/m over the outputs of past choices; Z is kept as its diagonal, as in the experiments of Zhou, Li &
/// Gu (2020, "Neural contextual bandits with UCB-based exploration") and of Zhang, Zhou, Li & Gu (2021, "Neural
/// Thompson sampling"). Gradient and diagonal lie where the network does.
class GradientVariance {
 public:
  /// @param layout     of the model's weights, P numbers
  /// @param precision  λ > 0
  /// @param device     of the model
  GradientVariance(const inference::Layout& layout, double precision, std::int64_t width,
                   inference::Device device = {});

  /// σ² of one output for one row of inputs; the gradient is left for `observe`.
  /// @param weights  [1, P]
  double of(inference::Model<float>& model, inference::MatrixView<const float> weights,
            const inference::Inputs<float>& inputs, std::int64_t row, std::int64_t output);
  /// The output that `of` was last asked for was chosen, as often as the weight says.
  void observe(double weight);

  void save(Snapshot& snapshot) const { inference::save_weights(snapshot, "diagonal", layout_, diagonal_); }
  /// Throws Error(data) if the saved state has another size.
  void restore(const Snapshot& snapshot);

 private:
  inference::Layout layout_;
  double precision_, share_;  ///< λ, 1/m
  const inference::WeightDriver<float>& driver_;
  inference::Matrix<double> diagonal_;  ///< [1, P] of Z; λ in the padding of weights
  inference::Matrix<float> gradient_;   ///< [1, P]
};

}  // namespace stein::policies
