// The arithmetic of a mixture of two Gaussians over many weights, as one would write it down. Any precision; the float
// kernel in fused/scale_mixture_pass.h is held to it by tests/inference/fused/scale_mixture_pass_test.cpp.
#pragma once

#include <span>

namespace stein::inference {

/// p(w) = Σ_k share_k N(w; centre, 1/precision_k), the wide component first.
struct ScaleMixture {
  double centre = 0;
  double precision[2];   ///< 1/σ², precision[0] < precision[1]
  double log_height[2];  ///< log (share / (σ √(2π)))
};

namespace reference {

/// Adds the gradient of Σ log p(w), unless `gradient` is empty; returns the sum. Of w with p̂ₖ = shareₖ N(w) / p(w):
///   ∇ log p(w) = −(p̂₀ precision₀ + p̂₁ precision₁)(w − centre)
template <class Scalar>
double add_scale_mixture(const ScaleMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient);

}  // namespace reference
}  // namespace stein::inference
