// Models that can be differentiated by what they read.
#pragma once

#include <stein/inference/particles.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// What a classifier of rows of numbers can do besides: which small change of its inputs it would feel most.
class InputGradient {
 public:
  virtual ~InputGradient() = default;

  /// Writes ∇x log p(c | x, θ) for every row of inputs x and its class c, as the model predicts: without dropout, with
  /// running statistics.
  /// @param weights   one row [1, P], on the model's device
  /// @param inputs    [n, D]
  /// @param classes   [n]
  /// @param gradient  [n, D], overwritten
  /// @throws Error(usage) if sizes do not fit, or the model's outputs are no logits of classes
  virtual void input_gradient(const ParticleRows<const float>& weights, MatrixView<const float> inputs,
                              std::span<const std::int64_t> classes, MatrixView<float> gradient) = 0;
};

}  // namespace stein::inference
