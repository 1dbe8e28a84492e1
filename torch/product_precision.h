// In what numbers LibTorch multiplies.
#pragma once

#include <stein/inference/storage/device.h>

#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

namespace stein::inference {

/// Whether a GPU rounds the factors of products and convolutions to TF32 (11 bits of mantissa), for the whole process.
/// LibTorch's own setting lets cuDNN do so, so single precision has to be asked for.
void allow_tf32(bool allowed);

/// LibTorch's mixed precision, of this thread and a kind of device, while it lives: products and convolutions round
/// their factors to bfloat16 and have such results, losses and sums of many rows are of floats, and so are the
/// gradients of weights. What was rounded is not kept: a module's parameters are bound to other numbers from row to
/// row. LibTorch's own layers of LSTMs and plain recurrent networks would be given float16 on a GPU: a module keeps it
/// from them.
class MixedPrecision {
 public:
  explicit MixedPrecision(Device device);
  MixedPrecision(const MixedPrecision&) = delete;
  MixedPrecision& operator=(const MixedPrecision&) = delete;
  ~MixedPrecision();

 private:
  c10::DeviceType kind_;
  bool enabled_, keeps_;  ///< what was set before
  c10::ScalarType type_;
};

}  // namespace stein::inference
