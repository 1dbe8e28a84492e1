// The steps of mean-field Gaussians and of mixtures on one float: what CUDA kernels make of a weight, with the bits of
// the SIMD passes.
#pragma once

#include <stein/core/box_muller.h>
#include <stein/inference/priors/scale_mixture_pass.h>

namespace stein::inference {

#include <stein/inference/exponential_steps.inc>
#include <stein/inference/parameterizations/mean_field_steps.inc>
#include <stein/inference/priors/scale_mixture_steps.inc>

/// The operations of exponential_steps.inc and what stands on it, on one float.
struct DensityOperations : FloatOperations {
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float absolute(float a) { return std::abs(a); }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float negative(float a) { return -a; }
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float largest(float a, float b) { return a > b ? a : b; }
  /// c − a b in one rounding.
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float negative_multiply_add(float a, float b, float c) {
    return std::fma(-a, b, c);
  }
  /// x where a > b, else y.
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE float where_greater(float a, float b, float x, float y) {
    return a > b ? x : y;
  }
};

}  // namespace stein::inference
