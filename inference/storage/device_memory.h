// Memory of devices other than the host: what the library of a device brings.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/storage/device.h>

#include <cstddef>
#include <cstdint>

namespace stein::inference {

/// What can be done with the memory of one kind of device. `index` is which of its kind; sizes are in bytes. A copy has
/// been made when the function returns. Each throws Error(usage) where there is no such device, Error(io) with the
/// device's reason where it refuses.
struct DeviceMemory {
  /// Zeroed memory on a 64-byte boundary.
  void* (*allocate)(std::int32_t index, std::size_t bytes) = nullptr;
  void (*release)(std::int32_t index, void* memory, std::size_t bytes) noexcept = nullptr;
  /// From the host to the device.
  void (*copy_in)(std::int32_t index, void* to, const void* host, std::size_t bytes) = nullptr;
  /// From the device to the host.
  void (*copy_out)(std::int32_t index, void* host, const void* from, std::size_t bytes) = nullptr;
  /// From one place of the device to another.
  void (*copy_within)(std::int32_t index, void* to, const void* from, std::size_t bytes) = nullptr;
  /// Sets `count` floats.
  void (*fill)(std::int32_t index, float* to, float value, std::size_t count) = nullptr;
};

/// Memories by the name of their kind of device; empty until the library of a device is loaded.
Registry<DeviceMemory>& device_memories();

/// That of a kind of device, whose library is loaded for it. Throws Error(usage) where Stein was built without it.
const DeviceMemory& device_memory(Device::Kind kind);

}  // namespace stein::inference
