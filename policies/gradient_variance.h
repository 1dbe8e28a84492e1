// How uncertain a network is by its gradient: what NeuralUCB and neural Thompson sampling explore by.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/model.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::policies {

/// With g the gradient of an output by all weights and m the width of the last hidden layer, σ² = λ gᵀ Z⁻¹ g / m, where
/// Z = λI + Σ g gᵀ/m over the outputs of past choices; Z is kept as its diagonal, as in the experiments of Zhou, Li &
/// Gu (2020, "Neural contextual bandits with UCB-based exploration") and of Zhang, Zhou, Li & Gu (2021, "Neural
/// Thompson sampling").
class GradientVariance {
 public:
  /// @param weights    P, numbers of the model's layout
  /// @param precision  λ > 0
  GradientVariance(std::int64_t weights, double precision, std::int64_t width);

  /// σ² of one output for each row of inputs; the gradient is left for `observe`.
  double of(inference::Model<float>& model, std::span<const float> weights, const inference::Inputs<float>& inputs,
            std::int64_t row, std::int64_t output);
  /// The output that `of` was last asked for was chosen, as often as the weight says.
  void observe(double weight);

  void save(Snapshot& snapshot) const { snapshot.put("diagonal", diagonal_); }
  /// Throws Error(data) if the saved state has another size.
  void restore(const Snapshot& snapshot) { snapshot.get("diagonal", std::span(diagonal_)); }

 private:
  double precision_, share_;      ///< λ, 1/m
  std::vector<double> diagonal_;  ///< [P] of Z
  inference::Matrix<float> gradient_;
};

}  // namespace stein::policies
