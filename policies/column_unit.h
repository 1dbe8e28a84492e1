// In which unit a network sees a number of an observation.
#pragma once

#include <stein/core/host_device.h>

namespace stein::policies {

/// (x − mean) · scale, limited to ±10.
struct ColumnUnit {
  float mean;
  float scale;  ///< 1/sd

  STEIN_HOST_DEVICE float operator()(float x) const {
    const float inside = (x - mean) * scale;
    return inside < -10.0F ? -10.0F : inside > 10.0F ? 10.0F : inside;
  }
};

}  // namespace stein::policies
