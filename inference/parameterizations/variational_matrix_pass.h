// The arithmetic of one variational matrix Gaussian, as one would write it down: its draw, the way back, and what its
// divergence needs. Any precision; the threads of cuda/variational_matrix_body.h are held to these by
// tests/inference/cuda/weight_bodies_test.cpp.
#pragma once

#include <stein/inference/parameterizations/mean_field_pass.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// W = M + diag(u) E diag(v), [p, d]. M, log u and log v lie end to end; rows of weights, and of their gradients, lie
/// `stride` ≥ d apart.
template <class Scalar>
struct VariationalMatrix {
  std::span<const Scalar> mean, log_left, log_right;
  std::int64_t stride;

  std::int64_t rows() const { return std::ssize(log_left); }
  std::int64_t columns() const { return std::ssize(log_right); }
};

/// Where the gradients by its coordinates go.
template <class Scalar>
struct VariationalMatrixGradient {
  std::span<Scalar> mean, log_left, log_right;
};

/// Writes a draw to rows of `weights`, zeros between them; ε of row i and column j has index i d + j of the noise.
template <class Scalar>
void draw_matrix(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise, std::span<Scalar> weights);

/// Writes the gradients by M, log u and log v of Σ_s ⟨G_s, W_s⟩ + d Σ log u + p Σ log v − λ/2 (Σu² Σv² + ‖M‖²): of
/// draws s whose E are made again, of the entropy, and of the expected log density of a Gaussian prior (λ = 0: none).
///   ∇M = Σ_s G_s − λ M;   ∇ log u_i = Σ_sj G_sij u_i ε_sij v_j + d − λ u_i² Σv²,   log v the same
/// @param weight_gradient  [S, ·] of the draws, this matrix first in each row
template <class Scalar>
void pull_back_matrix(const VariationalMatrix<Scalar>& law, const MeanFieldNoise& noise,
                      MatrixView<const Scalar> weight_gradient, double precision,
                      const VariationalMatrixGradient<Scalar>& gradient);

/// E‖W‖² = Σu² Σv² + ‖M‖².
template <class Scalar>
double expected_square_of_matrix(const VariationalMatrix<Scalar>& law);

}  // namespace stein::inference
