// Two words to two standard normals, the float arithmetic written once: plain floats here, SIMD vectors in
// fill_normal.cpp. Every multiply-add is explicit, so the bits are the same wherever it runs.
#pragma once

#include <stein/core/host_device.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace stein {

template <class V>
struct NormalPair {
  V first, second;
};

/// The operations that `box_muller_steps` needs, on one float.
struct FloatOperations {
  using Real = float;
  using Word = std::uint32_t;

  STEIN_HOST_DEVICE static Real set(float value) { return value; }
  STEIN_HOST_DEVICE static Word set_word(std::uint32_t value) { return value; }
  STEIN_HOST_DEVICE static Real multiply_add(Real a, Real b, Real c) { return std::fma(a, b, c); }
  STEIN_HOST_DEVICE static Real square_root(Real a) { return std::sqrt(a); }
  STEIN_HOST_DEVICE static Word bits(Real a) { return std::bit_cast<Word>(a); }
  STEIN_HOST_DEVICE static Real real(Word a) { return std::bit_cast<Real>(a); }
  /// The signed integer in `a` as a float, rounded to nearest.
  STEIN_HOST_DEVICE static Real from_signed(Word a) { return static_cast<Real>(static_cast<std::int32_t>(a)); }
  template <int n>
  STEIN_HOST_DEVICE static Word shift_left(Word a) {
    return a << n;
  }
  template <int n>
  STEIN_HOST_DEVICE static Word shift_right(Word a) {
    return a >> n;
  }
  template <int n>
  STEIN_HOST_DEVICE static Word shift_right_signed(Word a) {
    return static_cast<Word>(static_cast<std::int32_t>(a) >> n);
  }
  /// a where the top bit of `mask` is set, else b.
  STEIN_HOST_DEVICE static Real choose(Word mask, Real a, Real b) { return (mask >> 31) != 0 ? a : b; }
};

/// Box–Muller on two words. The first gives u = (w + ½)/2³² in (0, 1], so the radius √(−2 ln u) stays below 6.77; the
/// second gives the angle: its top two bits (rounded) the quadrant, the rest an angle within ±π/4. ln: exponent and a
/// polynomial of degree 7 on [√½, √2] (error < 1e-7 relative to the radius); sine and cosine: Taylor–minimax
/// polynomials of degrees 7 and 8 (error < 1e-7).
template <class O>
STEIN_HOST_DEVICE NormalPair<typename O::Real> box_muller_steps(typename O::Word word0, typename O::Word word1) {
  using Real = typename O::Real;
  using Word = typename O::Word;
  // u: high and low half words convert exactly; one fused multiply-add rounds once.
  const Real high = O::from_signed(O::template shift_right<16>(word0));
  const Real low = O::from_signed(word0 & O::set_word(0xFFFFu));
  const Real u = O::multiply_add(O::multiply_add(high, O::set(65536.0f), low), O::set(0x1p-32f), O::set(0x1p-33f));

  // ln u = e ln 2 + ln m with m in [√½, √2).
  const Word shifted = O::bits(u) - O::set_word(0x3F3504F3u);
  const Real exponent = O::from_signed(O::template shift_right_signed<23>(shifted));
  const Real m = O::real((shifted & O::set_word(0x007FFFFFu)) + O::set_word(0x3F3504F3u)) - O::set(1.0f);
  Real p = O::set(7.0376836292e-2f);  // Cephes logf (Moshier): m - m²/2 + m³ P(m)
  p = O::multiply_add(p, m, O::set(-1.1514610310e-1f));
  p = O::multiply_add(p, m, O::set(1.1676998740e-1f));
  p = O::multiply_add(p, m, O::set(-1.2420140846e-1f));
  p = O::multiply_add(p, m, O::set(1.4249322787e-1f));
  p = O::multiply_add(p, m, O::set(-1.6668057665e-1f));
  p = O::multiply_add(p, m, O::set(2.0000714765e-1f));
  p = O::multiply_add(p, m, O::set(-2.4999993993e-1f));
  p = O::multiply_add(p, m, O::set(3.3333331174e-1f));
  const Real m2 = m * m;
  p = p * m2 * m;
  p = O::multiply_add(m2, O::set(-0.5f), p) + m;
  const Real negative_log = O::multiply_add(exponent, O::set(-0.693147180559945f), O::set(0.0f) - p);
  // u may round to exactly 1, where the polynomial gives 0 up to a sign: |x| keeps the root real.
  const Real square = O::real(O::bits(negative_log + negative_log) & O::set_word(0x7FFFFFFFu));
  const Real radius = O::square_root(square);

  // Angle π w / 2³¹: quadrant = top two bits after rounding, remainder in [−½, ½) quarter turns.
  const Word rounded = word1 + O::set_word(0x20000000u);
  const Word quadrant = O::template shift_right<30>(rounded);
  const Word remainder = word1 - O::template shift_left<30>(quadrant);
  const Real x = O::from_signed(remainder) * O::set(1.4629180792671596e-9f);  // π / 2³¹
  const Real x2 = x * x;
  Real sine = O::set(-1.9515295891e-4f);  // Cephes sinf, cosf on |x| ≤ π/4
  sine = O::multiply_add(sine, x2, O::set(8.3321608736e-3f));
  sine = O::multiply_add(sine, x2, O::set(-1.6666654611e-1f));
  sine = O::multiply_add(sine * x2, x, x);
  Real cosine = O::set(2.443315711809948e-5f);
  cosine = O::multiply_add(cosine, x2, O::set(-1.388731625493765e-3f));
  cosine = O::multiply_add(cosine, x2, O::set(4.166664568298827e-2f));
  cosine = O::multiply_add(cosine * x2, x2, O::multiply_add(x2, O::set(-0.5f), O::set(1.0f)));

  // Quadrants 1 and 3 swap sine and cosine; cosine changes sign in 1, 2; sine in 2, 3.
  const Word swap = O::template shift_left<31>(quadrant);
  const Word quadrant_bit1 = O::template shift_left<30>(quadrant) & O::set_word(0x80000000u);
  const Real cosine_part = O::choose(swap, sine, cosine);
  const Real sine_part = O::choose(swap, cosine, sine);
  const Real signed_cosine = O::real(O::bits(cosine_part) ^ (quadrant_bit1 ^ swap));
  const Real signed_sine = O::real(O::bits(sine_part) ^ quadrant_bit1);
  return {radius * signed_cosine, radius * signed_sine};
}

/// Box–Muller on two words, in float.
inline NormalPair<float> box_muller(std::uint32_t word0, std::uint32_t word1) {
  return box_muller_steps<FloatOperations>(word0, word1);
}

}  // namespace stein
