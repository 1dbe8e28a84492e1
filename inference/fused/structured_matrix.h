// One weight matrix W = P Λ₁ C Λ₂ Qᵀ of one particle as the SIMD kernels see it.
#pragma once

#include <cstdint>

namespace stein::inference::fused {

/// W is [rows, columns]; P and Q are products of `left` and `right` reflections.
struct MatrixShape {
  std::int64_t rows, columns, left, right;
};

/// Where the parts of one matrix lie, or their gradients; rows end to end. An absent part is null.
template <class T>
struct MatrixParts {
  T* core = nullptr;              ///< C [rows, columns]
  T* log_scale_left = nullptr;    ///< log diag Λ₁ [rows]
  T* log_scale_right = nullptr;   ///< log diag Λ₂ [columns]
  T* reflectors_left = nullptr;   ///< Vᵀ [left, rows]
  T* reflectors_right = nullptr;  ///< Yᵀ [right, columns]
};

/// A reflector has a direction if its squared length lies within these: its inverse is then a float.
constexpr float least_square = 1e-30f, largest_square = 1e30f;

}  // namespace stein::inference::fused
