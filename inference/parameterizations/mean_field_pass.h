// The arithmetic of mean-field Gaussians over one parameter, as one would write it down: its draw, and the way back.
// Any precision; the float kernels in fused/mean_field_pass.h are held to these by
// tests/inference/fused/mean_field_pass_test.cpp.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace stein::inference {

/// A parameter each of whose weights has a Gaussian N(μ, σ²) of its own, σ = softplus(ρ). μ and ρ lie end to end; rows
/// of `columns` weights, and of their gradients, lie `stride` ≥ columns apart.
template <class Scalar>
struct MeanField {
  std::span<const Scalar> mean, log_deviation;
  std::int64_t columns, stride;

  std::int64_t size() const { return static_cast<std::int64_t>(mean.size()); }
  /// The stretches of weights begin … end that lie end to end: visit(number of the first, its place, count).
  template <class Visit>
  void for_each_stretch(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    for (std::int64_t q = begin; q < end;) {
      const std::int64_t column = q % columns, count = std::min(columns - column, end - q);
      visit(q, q / columns * stride + column, count);
      q += count;
    }
  }
};

/// Where the ε of a parameter lie: from index `first` on of row `row`; those of further draws in the rows behind it.
struct MeanFieldNoise {
  NoiseKey key;
  std::uint32_t row;
  std::uint64_t first;
};

namespace reference {

/// Writes θ = μ + σ ε to rows of `weights`, zeros between them.
template <class Scalar>
void draw(const MeanField<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights);

/// Writes the gradients by μ and ρ of Σ_s ⟨g_s, θ_s⟩ + Σ log σ − λ/2 Σ (μ² + σ²): of draws s whose ε are made again, of
/// the entropy, and of the expected log density of a Gaussian prior (λ = 0: none).
///   ∇μ = Σ_s g_s − λ μ;   ∇ρ = (Σ_s g_s ε_s + 1/σ − λ σ) ∂σ/∂ρ
/// @param weight_gradient  [S, ·] of the draws, this parameter first in each row
template <class Scalar>
void pull_back(const MeanField<Scalar>& law, const MeanFieldNoise& noise, MatrixView<const Scalar> weight_gradient,
               double precision, std::span<Scalar> mean_gradient, std::span<Scalar> deviation_gradient);

}  // namespace reference

/// Σ log σ.
template <class Scalar>
double sum_of_log_deviations(const MeanField<Scalar>& law);

/// Σ (μ² + σ²).
template <class Scalar>
double sum_of_expected_squares(const MeanField<Scalar>& law);

}  // namespace stein::inference
