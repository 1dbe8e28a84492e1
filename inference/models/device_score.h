// A score of a batch's own that a device can make, where the outputs of the networks lie there.
#pragma once

#include <stein/inference/output_score.h>
#include <stein/inference/storage/device.h>

#include <cstdint>

namespace stein::inference {

/// Outputs of networks on a device, and where their slopes go. Addresses of the device.
struct DeviceOutputs {
  std::int64_t networks = 0;         ///< m
  std::int64_t first_particle = 0;   ///< what the score calls the first of the networks; each is a particle
  std::int64_t rows = 0;             ///< n, that each network has seen
  std::int64_t columns = 0;          ///< K
  const float* outputs = nullptr;    ///< [m·n, K]
  const float* constants = nullptr;  ///< those of the first network; null: there are none
  std::int64_t constant_stride = 0;  ///< from a network's constants to those of the next
  float scale = 1;                   ///< slopes are multiplied with it
  float* slopes = nullptr;           ///< [m·n, K] to be written
  float* constant_slopes = nullptr;  ///< [m, constants] to be written
};

/// A score whose slopes a device makes, so that outputs do not come home for it.
class DeviceScore : public OutputScore<float> {
 public:
  /// Whether `score_on` may be asked on this device.
  virtual bool made_on(Device device) const = 0;
  /// Asks for the slopes of all rows: launches behind what the device has been asked for, which need not be over when
  /// this returns.
  virtual void score_on(Device device, const DeviceOutputs& outputs) const = 0;
};

}  // namespace stein::inference
