// One update of one coordinate by momentum SGD, RMSprop or Adam.
#pragma once

#include <stein/core/host_device.h>

#include <cmath>

namespace stein::inference {

enum class OptimizerMethod { sgd, rmsprop, adam };

/// The numbers that one update of every coordinate shares.
struct OptimizerStep {
  double step_size;  ///< with Adam's bias correction of the first moment folded in
  double momentum;
  double square_decay;
  double square_correction;  ///< 1/√(1 − β₂ᵗ) for Adam, else 1
  double epsilon;
};

/// One coordinate:
///   sgd:      m ← μ m + d;            x ← x + h m
///   rmsprop:  v ← β v + (1 − β) d²;   x ← x + h d / (√v + ε)
///   adam:     m ← μ m + (1 − μ) d;  v ← β v + (1 − β) d²;  x ← x + h m / (√v c + ε)
/// with d the direction of ascent (Kingma & Ba 2015, Algorithm 1; Tieleman & Hinton 2012). `ascend_vector` in
/// fused/svgd_pass.cpp does the same operations in the same order, so a float has the same bits there on every SIMD
/// target that multiplies and adds in one rounding.
template <class Scalar>
STEIN_HOST_DEVICE inline void update_coordinate(OptimizerMethod method, const OptimizerStep& step, Scalar direction,
                                                Scalar& value, Scalar& mean, Scalar& square) {
  const auto h = static_cast<Scalar>(step.step_size), mu = static_cast<Scalar>(step.momentum);
  const auto beta = static_cast<Scalar>(step.square_decay), epsilon = static_cast<Scalar>(step.epsilon);
  switch (method) {
    case OptimizerMethod::sgd:
      mean = std::fma(mu, mean, direction);
      value = std::fma(h, mean, value);
      return;
    case OptimizerMethod::rmsprop:
      square = std::fma(beta, square, (1 - beta) * (direction * direction));
      value += h * direction / (std::sqrt(square) + epsilon);
      return;
    case OptimizerMethod::adam:
      mean = std::fma(mu, mean, (1 - mu) * direction);
      square = std::fma(beta, square, (1 - beta) * (direction * direction));
      value += h * mean / std::fma(std::sqrt(square), static_cast<Scalar>(step.square_correction), epsilon);
      return;
  }
}

}  // namespace stein::inference
