// e^(−|x|) and log(1 + e) of vectors of floats: what softplus, sigmoid and mixtures are made of. The arithmetic stands
// in exponential_steps.inc.
#if defined(STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#undef STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#else
#define STEIN_INFERENCE_FUSED_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>
#include <stein/core/host_device.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace exponential {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector set(float x) {
  return hn::Set(Tag(), x);
}

/// The operations of exponential_steps.inc and what stands on it, on a vector.
struct Operations {
  using Real = Vector;
  using Word = hn::Vec<hn::RebindToUnsigned<Tag>>;

  static HWY_INLINE Real set(float x) { return hn::Set(Tag(), x); }
  static HWY_INLINE Real absolute(Real a) { return hn::Abs(a); }
  static HWY_INLINE Real negative(Real a) { return hn::Neg(a); }
  static HWY_INLINE Real largest(Real a, Real b) { return hn::Max(a, b); }
  static HWY_INLINE Real multiply_add(Real a, Real b, Real c) { return hn::MulAdd(a, b, c); }
  static HWY_INLINE Real negative_multiply_add(Real a, Real b, Real c) { return hn::NegMulAdd(a, b, c); }
  static HWY_INLINE Real where_greater(Real a, Real b, Real x, Real y) { return hn::IfThenElse(hn::Gt(a, b), x, y); }
  static HWY_INLINE Word bits(Real a) { return hn::BitCast(hn::RebindToUnsigned<Tag>(), a); }
  static HWY_INLINE Real real(Word a) { return hn::BitCast(Tag(), a); }
  template <int n>
  static HWY_INLINE Word shift_left(Word a) {
    return hn::ShiftLeft<n>(a);
  }
};

#include <stein/inference/exponential_steps.inc>

HWY_INLINE Vector decay(Vector x) {
  return decay_steps<Operations>(x);
}
HWY_INLINE Vector log_one_plus(Vector e) {
  return log_one_plus_steps<Operations>(e);
}

}  // namespace exponential
}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
