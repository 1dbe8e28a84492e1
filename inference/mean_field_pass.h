// The arithmetic of mean-field Gaussians over runs of coordinates, σ = softplus(ρ).
#pragma once

#include <stein/core/rng.h>

#include <cstdint>
#include <span>

namespace stein::inference::mean_field {

/// Where the ε of a run lie.
struct Noise {
  NoiseKey key;
  std::uint32_t row;
  std::uint64_t first;
};

/// weights += σ ε.
template <class Scalar>
void add_noise(std::span<const Scalar> log_deviation, const Noise& noise, std::span<Scalar> weights);

/// gradient += g ε ∂σ/∂ρ, with ε drawn again.
template <class Scalar>
void pull_back(std::span<const Scalar> log_deviation, const Noise& noise, std::span<const Scalar> weight_gradient,
               std::span<Scalar> gradient);

/// Adds the gradient of Σ log σ; returns Σ log σ.
template <class Scalar>
double add_log_deviation(std::span<const Scalar> log_deviation, std::span<Scalar> gradient);

/// Adds the gradients of −λ/2 Σ (μ² + σ²); returns Σ (μ² + σ²).
template <class Scalar>
double add_expected_square(double precision, std::span<const Scalar> mean, std::span<const Scalar> log_deviation,
                           std::span<Scalar> mean_gradient, std::span<Scalar> deviation_gradient);

}  // namespace stein::inference::mean_field
