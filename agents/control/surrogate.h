// What multiplies the gradient of log π in a policy gradient, of one row; for the loops of the host and for kernels.
#pragma once

#include <stein/core/host_device.h>

#include <cmath>

namespace stein::agents {

/// Larger ratios r count as e^20: more than any clip or limit lets through, and far from the end of float's numbers.
inline constexpr float largest_log_ratio = 20;

/// A, or the slope of the clipped surrogate min(r A, clip(r, 1 − ε, 1 + ε) A) by log r, r = π/π_old (Schulman et al.
/// 2017, eq. 7).
struct Surrogate {
  float clip_ratio = 0;  ///< ε; 0: the plain policy gradient

  STEIN_HOST_DEVICE bool clips() const { return clip_ratio > 0; }
  /// @param log_ratio  log r; looked at where it clips
  STEIN_HOST_DEVICE float weight(float advantage, float scale, float log_ratio) const {
    const float weight = scale * advantage;
    if (!clips()) return weight;
    const float ratio = std::exp(log_ratio < largest_log_ratio ? log_ratio : float{largest_log_ratio});
    const float low = 1 - clip_ratio, high = 1 + clip_ratio, limited = ratio < low ? low : ratio > high ? high : ratio;
    // Where the limited term is the smaller one, it does not change with π.
    return weight * (limited * advantage < ratio * advantage ? 0 : ratio);
  }
};

}  // namespace stein::agents
