// What a gradient is multiplied with so that it is not too long: for host and devices.
#pragma once

#include <stein/core/host_device.h>

namespace stein::inference {

enum class ClipRule {
  clip,     ///< a longer gradient is scaled down to the limit, a shorter one stays
  rescale,  ///< every gradient is scaled to the limit, as in the released code of Gan et al. 2017
};

/// 1 where a gradient of this length stays.
STEIN_HOST_DEVICE inline double clip_factor(double length, double limit, ClipRule rule) {
  const bool short_enough = rule == ClipRule::clip && length <= limit;
  return short_enough || length == 0 ? 1 : limit / length;
}

}  // namespace stein::inference
