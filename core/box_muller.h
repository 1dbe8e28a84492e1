// Two random words to two standard normals in float.
#pragma once

#include <stein/core/host_device.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace stein {

/// The operations that `box_muller_steps` needs, on one float.
struct FloatOperations {
  /// A number.
  using Real = float;
  /// 32 random bits.
  using Word = std::uint32_t;

  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real set(float value) { return value; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Word set_word(std::uint32_t value) { return value; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real multiply_add(Real a, Real b, Real c) { return std::fma(a, b, c); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real square_root(Real a) { return std::sqrt(a); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Word bits(Real a) { return std::bit_cast<Word>(a); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real real(Word a) { return std::bit_cast<Real>(a); }
  /// The signed integer in `a` as a float, rounded to nearest.
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real from_signed(Word a) {
    return static_cast<Real>(static_cast<std::int32_t>(a));
  }
  template <int n>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Word shift_left(Word a) {
    return a << n;
  }
  template <int n>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Word shift_right(Word a) {
    return a >> n;
  }
  template <int n>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Word shift_right_signed(Word a) {
    return static_cast<Word>(static_cast<std::int32_t>(a) >> n);
  }
  /// a where the top bit of `mask` is set, else b.
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE Real choose(Word mask, Real a, Real b) {
    return (mask >> 31) != 0 ? a : b;
  }
};

#include <stein/core/box_muller_steps.inc>

/// Box–Muller on two words, in float.
inline NormalPair<float> box_muller(std::uint32_t word0, std::uint32_t word1) {
  return box_muller_steps<FloatOperations>(word0, word1);
}

}  // namespace stein
