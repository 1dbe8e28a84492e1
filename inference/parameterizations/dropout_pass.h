// The arithmetic of dropped units over one weight matrix, as one would write it down: its draw, and the way back. Any
// precision; the threads of cuda/weight_body.h are held to these by tests/inference/cuda/weight_bodies_test.cpp.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// The units whose outputs a weight matrix [units, columns] takes, row by row; rows lie `stride` ≥ columns apart.
struct DroppedUnits {
  NoiseKey key;
  double rate;         ///< p
  std::int64_t first;  ///< number of the matrix's first unit among all that may be dropped
  std::int64_t columns, stride;

  /// What a draw multiplies the row of a unit with: 0 with probability p, else 1/(1 − p).
  STEIN_HOST_DEVICE double factor(std::uint32_t draw, std::int64_t unit) const {
    const bool dropped = uniform_at(key, draw, static_cast<std::uint64_t>(first + unit)) < rate;
    return dropped ? 0 : 1 / (1 - rate);
  }
};

/// Multiplies the rows of `weights` with the factors of one draw.
template <class Scalar>
void drop_units(const DroppedUnits& units, std::uint32_t draw, std::span<Scalar> weights);

/// Writes Σ_s factor · g_s to numbers that lie end to end, of the draws from `first_draw` on.
/// @param weight_gradient  [S, ·] of the draws, this matrix first in each row
template <class Scalar>
void pull_back_units(const DroppedUnits& units, std::uint32_t first_draw, MatrixView<const Scalar> weight_gradient,
                     std::span<Scalar> gradient);

}  // namespace stein::inference
