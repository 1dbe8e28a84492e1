// The steps of Box–Muller, written once and included inside a namespace: by box_muller.h for plain floats and CUDA, by
// normal-inl.h once for every SIMD target (a function that takes vectors must be compiled for their target). `O` gives
// the operations on one value or vector; every multiply-add is explicit, so the bits are the same wherever it runs.

template <class V>
struct NormalPair {
  V first, second;
};

/// Box–Muller on two words. The first gives u = (⌊w/2⌋ + ½)/2³¹ in (0, 1], so the radius √(−2 ln u) stays below 6.67;
/// the second gives the angle: its top two bits (rounded) the quadrant, the rest an angle within ±π/4. ln: exponent and
/// a polynomial of degree 11 on [√½, √2]; sine and cosine: polynomials of degrees 7 and 8 (all of Moshier's Cephes, <
/// 1e-7).
template <class O>
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE NormalPair<typename O::Real> box_muller_steps(typename O::Word word0,
                                                                                    typename O::Word word1) {
  using Real = typename O::Real;
  using Word = typename O::Word;
  // u in [2⁻³², 1]: the top 31 bits convert with one rounding.
  const Real u = O::multiply_add(O::from_signed(O::template shift_right<1>(word0)), O::set(0x1p-31f), O::set(0x1p-32f));

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
  const Real radius = O::square_root(O::multiply_add(exponent, O::set(-1.386294361119891f), p * O::set(-2.0f)));

  // Angle π w / 2³¹: quadrant = top two bits after rounding, remainder in [−½, ½) quarter turns.
  const Word rounded = word1 + O::set_word(0x20000000u);
  const Word remainder = word1 - (rounded & O::set_word(0xC0000000u));
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
  const Word swap = O::template shift_left<1>(rounded);
  const Word sign = O::set_word(0x80000000u);
  const Real cosine_part = O::choose(swap, sine, cosine);
  const Real sine_part = O::choose(swap, cosine, sine);
  const Real signed_cosine = O::real(O::bits(cosine_part) ^ ((rounded ^ swap) & sign));
  const Real signed_sine = O::real(O::bits(sine_part) ^ (rounded & sign));
  return {radius * signed_cosine, radius * signed_sine};
}
