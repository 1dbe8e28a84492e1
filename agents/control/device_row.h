// Numbers of an update that a device is given, or gives back.
#pragma once

#include <stein/inference/storage/device.h>
#include <stein/inference/storage/matrix.h>

#include <cstdint>
#include <span>

namespace stein::agents {

/// A row of numbers on a device, which becomes longer where it has to; what it held is gone then.
class DeviceRow {
 public:
  /// @param device  other than the host
  explicit DeviceRow(inference::Device device) : device_(device) {}

  /// Room for `count` numbers; null for none.
  float* reserve(std::int64_t count);
  /// Copies numbers there, behind what the device has been asked for; they may change at once. @returns their place
  const float* take(std::span<const float> numbers);
  /// Waits for the device, and copies its first numbers home.
  void give(std::span<float> numbers) const;

 private:
  inference::Device device_;
  inference::Matrix<float> row_;
};

}  // namespace stein::agents
