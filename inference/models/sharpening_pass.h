// The arithmetic of posterior sharpening over weights that lie end to end.
#pragma once

#include <stein/core/rng.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Numbers of a minibatch that is sharpened.
struct SharpeningNumbers {
  double rate_scale;    ///< s of η = s η̂
  double to_minibatch;  ///< n/N: gradients are those of the full joint
  double deviation;     ///< σ₀
  double precision;     ///< 1/σ₀²
};

/// Some weights: their η̂, and the gradient (N/n) ∇ log p at φ.
template <class Scalar>
struct SharpenedStretch {
  std::span<const Scalar> rates, slopes;
};

/// θ ← φ + η ∘ ∇ log p + σ₀ ε, with ε from index `first` on of row `row` of the sheet of `key`.
/// @param weights  φ, which becomes θ
template <class Scalar>
void sharpen(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch, const NoiseKey& key,
             std::uint32_t row, std::uint64_t first, std::span<Scalar> weights);

/// What the rates get back. With G = ∇ log p of the minibatch at φ and s the gradient at θ: ∇η = s G − (N/n) η G²/σ₀².
/// @param gradient       s; empty: none is asked for, neither of what follows
/// @param rate_gradient  ∇η̂ goes there
/// @param vector         η s − (N/n) η² G/σ₀², of the minibatch, goes there; empty: it is not asked for
/// @param divergence     (N/n) Σ (η G)²/(2σ₀²) is added there; null: it is not asked for
template <class Scalar>
void pull_back_rates(const SharpeningNumbers& numbers, const SharpenedStretch<Scalar>& stretch,
                     std::span<const Scalar> gradient, std::span<Scalar> rate_gradient, std::span<Scalar> vector,
                     double* divergence);

}  // namespace stein::inference
