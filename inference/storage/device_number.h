// One number of a device, read by the host.
#pragma once

#include <stein/inference/storage/device_memory.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Number k of numbers that lie on `device`.
template <class Scalar>
double number_at(std::span<const Scalar> values, std::int64_t k, Device device) {
  if (device.kind == Device::Kind::host) return static_cast<double>(values[k]);
  Scalar number{0};
  device_memory(device.kind).copy_out(device.index, &number, values.data() + k, sizeof(Scalar));
  return static_cast<double>(number);
}

}  // namespace stein::inference
