// One step of generalised advantage estimation, written once for the loop over shards and for kernels.
#pragma once

#include <stein/core/host_device.h>

namespace stein::agents {

/// A_t = r_t + γ V(s_{t+1}) − V(s_t) + γ λ (1 − end_t) A_{t+1} (Schulman et al. 2016, eq. 16).
struct AdvantageStep {
  float discount;  ///< γ
  float decay;     ///< γ λ

  static AdvantageStep of(double discount, double lambda) {
    return {.discount = static_cast<float>(discount), .decay = static_cast<float>(discount * lambda)};
  }

  STEIN_HOST_DEVICE float operator()(float reward, float value, float next_value, float end, float after) const {
    const float difference = reward + discount * next_value - value;
    return difference + decay * (1 - end) * after;
  }
};

}  // namespace stein::agents
