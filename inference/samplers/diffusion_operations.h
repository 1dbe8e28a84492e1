// The operations of diffusion_steps.inc on one number.
#pragma once

#include <stein/core/box_muller.h>
#include <stein/inference/samplers/dynamics.h>

#include <cmath>

namespace stein::inference {

/// The operations on a float (bits as in SIMD) and on a double (the standard library's functions).
template <class Scalar>
struct NumberOperations;

#include <stein/inference/samplers/diffusion_steps.inc>

/// In float, every operation as the SIMD form makes it.
template <>
struct NumberOperations<float> : FloatOperations {
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float set(double value) { return static_cast<float>(value); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float largest(float a, float b) { return a > b ? a : b; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float smallest(float a, float b) { return a < b ? a : b; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float nearest(float a) { return std::nearbyint(a); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float power_of_two(float whole) {
    return real(static_cast<Word>(static_cast<std::int32_t>(whole) + 127) << 23);
  }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float divide_or_zero(float a, float b) { return b == 0 ? 0 : a / b; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float exponential(float a) {
    return exponential_steps<NumberOperations<float>>(a);
  }
};

/// In double.
template <>
struct NumberOperations<double> {
  /// A number.
  using Real = double;
  static STEIN_ALWAYS_INLINE double set(double value) { return value; }
  static STEIN_ALWAYS_INLINE double multiply_add(double a, double b, double c) { return std::fma(a, b, c); }
  static STEIN_ALWAYS_INLINE double square_root(double a) { return std::sqrt(a); }
  static STEIN_ALWAYS_INLINE double divide_or_zero(double a, double b) { return b == 0 ? 0 : a / b; }
  static STEIN_ALWAYS_INLINE double exponential(double a) { return std::exp(a); }
};

}  // namespace stein::inference
