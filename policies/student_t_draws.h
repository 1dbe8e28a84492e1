// One draw of each of several Student-t variables, from one block of random words each: the plain loop here, the same
// arithmetic in SIMD in fused/student_t_draws.h.
#pragma once

#include <stein/core/rng.h>
#include <stein/policies/student_t.h>

#include <cstdint>
#include <span>

namespace stein::policies {

/// What the draws are of.
struct StudentTDraws {
  std::span<const StudentT> variables;
  NoiseKey key;
  std::span<const std::uint32_t> rows;  ///< of the random numbers, one a variable
  std::span<double> values;             ///< one a variable
};

/// One proposal of Marsaglia & Tsang 2000 for a gamma variable of shape ν/2: attempt k takes block k of the row, whose
/// words are two normals (those of core/rng.h in float) and a uniform.
struct GammaProposal {
  double normal = 0;   ///< for the draw itself, of attempt 0
  double other = 0;    ///< x of the paper
  double uniform = 0;  ///< U
};
GammaProposal gamma_proposal(const NoiseKey& key, std::uint32_t row, std::uint32_t attempt);

/// The paper's squeeze, 1 − 0.0331 x⁴, lies below its exact bound for shapes ≥ 1; for those between ½ and 1, where the
/// exact bound holds too, it is not used.
inline constexpr double squeeze_factor = 0.0331, squeeze_shape = 1;

/// A uniform on (0, 1) from 31 bits.
inline double uniform_of(std::uint32_t bits) {
  return (static_cast<double>(bits) + 0.5) * 0x1p-31;
}

/// location + scale · normal · √(ν / χ²), the χ² from the first proposal that is accepted: `proposal` is attempt 0.
double accepted_draw(const StudentT& variable, const NoiseKey& key, std::uint32_t row, GammaProposal proposal);

namespace reference {

/// Draws every variable (degrees ≥ 1).
void draw_each(const StudentTDraws& draws);

}  // namespace reference
}  // namespace stein::policies
