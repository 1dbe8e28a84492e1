// W = P Λ₁ C Λ₂ Qᵀ of one matrix of one particle in SIMD, and the gradients of its parts.
#pragma once

#include <stein/inference/fused/structured_matrix.h>

#include <cstdint>

namespace stein::inference::fused {

/// Floats of memory that the forward pass of a matrix leaves for its pullback.
std::int64_t structured_kept_floats(const MatrixShape& shape);

/// Writes W, padding included, and what the pullback needs into `kept`.
/// @returns the index of the first reflector without a direction, those of the right side counted on from those of the
///          left, or −1
std::int64_t structured_forward(const MatrixShape& shape, const MatrixParts<const float>& parts, float* kept,
                                float* weight, std::int64_t weight_stride);

/// Writes the gradients of all parts, from what the last forward pass left in `kept`.
void structured_pullback(const MatrixShape& shape, const MatrixParts<const float>& parts, float* kept,
                         const float* weight_gradient, std::int64_t weight_stride, const MatrixParts<float>& gradient);

}  // namespace stein::inference::fused
