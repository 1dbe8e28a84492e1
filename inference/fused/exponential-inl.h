// e^(−|x|) and log(1 + e) of vectors of floats: what softplus, sigmoid and mixtures are made of.
#if defined(STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#undef STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#else
#define STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace exponential {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector set(float x) {
  return hn::Set(Tag(), x);
}

/// e^(−|x|), e⁻⁸⁷ beyond. The polynomial of exponential_steps in diffusion_steps.inc; adding 1.5 · 2²³ leaves the power
/// of two, rounded, in the last bits.
HWY_INLINE Vector decay(Vector argument) {
  const Tag d;
  const hn::RebindToSigned<Tag> whole;
  const Vector x = hn::Max(hn::Neg(hn::Abs(argument)), set(-87));
  const Vector shifted = hn::MulAdd(x, set(1.44269504088896341f), set(0x1.8p23f));
  const Vector turns = hn::Sub(shifted, set(0x1.8p23f));
  const Vector r = hn::MulAdd(turns, set(2.12194440e-4f), hn::MulAdd(turns, set(-0.693359375f), x));
  Vector p = set(1.9875691500e-4f);
  p = hn::MulAdd(p, r, set(1.3981999507e-3f));
  p = hn::MulAdd(p, r, set(8.3334519073e-3f));
  p = hn::MulAdd(p, r, set(4.1665795894e-2f));
  p = hn::MulAdd(p, r, set(1.6666665459e-1f));
  p = hn::MulAdd(p, r, set(5.0000001201e-1f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), set(1));
  return hn::BitCast(d, hn::Add(hn::BitCast(whole, p), hn::ShiftLeft<23>(hn::BitCast(whole, shifted))));
}

/// log(1 + e) = 2 artanh s for 0 ≤ e ≤ 1, with s = e/(2 + e) ≤ 1/3: minimax in s², 5e-9 relative.
HWY_INLINE Vector log_one_plus(Vector e) {
  const Vector s = hn::Div(e, hn::Add(set(2), e)), s2 = hn::Mul(s, s);
  Vector series = set(1.4005986282e-1f);
  series = hn::MulAdd(series, s2, set(1.4000904361e-1f));
  series = hn::MulAdd(series, s2, set(2.0010763498e-1f));
  series = hn::MulAdd(series, s2, set(3.3333208145e-1f));
  series = hn::MulAdd(series, s2, set(1));
  return hn::Mul(hn::Add(s, s), series);
}

}  // namespace exponential
}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
