// What the kernels of a step say of numbers that are not finite.
#pragma once

#include <stein/core/host_device.h>

namespace stein::inference::cuda {

/// Two words that kernels set to 1. A move asks `gradient` first and leaves everything where it is after a gradient
/// that is not finite, so the host waits once for a step: `seen`, in page-locked memory, tells it of both.
struct StepFlags {
  int* gradient = nullptr;  ///< in memory of the device: a gradient is not finite
  int* seen = nullptr;      ///< a gradient or a value is not finite

  /// Every thread writes the same number, so none needs a turn.
  STEIN_HOST_DEVICE void report_gradient() const { set(gradient), set(seen); }
  STEIN_HOST_DEVICE void report_value() const { set(seen); }
  /// Whether the step moves nothing.
  STEIN_HOST_DEVICE bool stopped() const { return *static_cast<const volatile int*>(gradient) != 0; }

 private:
  STEIN_HOST_DEVICE static void set(int* word) { *static_cast<volatile int*>(word) = 1; }
};

}  // namespace stein::inference::cuda
