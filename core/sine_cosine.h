// Sine and cosine together, without a branch: loops over them become SIMD loops with the same bits.
#pragma once

#include <stein/core/host_device.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace stein {

/// Both of one angle.
template <class Real>
struct SineCosine {
  Real sine, cosine;
};

/// Of an angle of up to ±8,000 [rad], to 2e-7: reduced to ±π/4 in three parts, then polynomials of degrees 7 and 8 (all
/// of Moshier's Cephes).
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE SineCosine<float> sine_cosine(float angle) {
  constexpr float round = 12582912.0F;  // 1.5 · 2²³: what is added to it is rounded to a whole number
  const float shifted = angle * 0.636619772F + round, quarters = shifted - round;
  const auto quadrant = std::bit_cast<std::int32_t>(shifted);
  const float x =
      ((angle - quarters * 1.5703125F) - quarters * 4.837512969970703125e-4F) - quarters * 7.54978995489188216e-8F;
  const float x2 = x * x;
  const float odd = ((-1.9515295891e-4F * x2 + 8.3321608736e-3F) * x2 - 1.6666654611e-1F) * x2 * x + x;
  const float even =
      ((2.443315711809948e-5F * x2 - 1.388731625493765e-3F) * x2 + 4.166664568298827e-2F) * x2 * x2 - 0.5F * x2 + 1;
  // Quadrants 1 and 3 swap them; the sine changes sign in 2 and 3, the cosine in 1 and 2.
  const bool swap = (quadrant & 1) != 0;
  const float sine = swap ? even : odd, cosine = swap ? odd : even;
  const std::int32_t sine_sign = (quadrant & 2) << 30, cosine_sign = ((quadrant + 1) & 2) << 30;
  return {std::bit_cast<float>(std::bit_cast<std::int32_t>(sine) ^ sine_sign),
          std::bit_cast<float>(std::bit_cast<std::int32_t>(cosine) ^ cosine_sign)};
}

/// The standard library's.
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE SineCosine<double> sine_cosine(double angle) {
  return {std::sin(angle), std::cos(angle)};
}

}  // namespace stein
