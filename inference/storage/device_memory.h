// Memory of devices other than the host: what the library of a device brings.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/late_numbers.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace stein::inference {

/// What can be done with the memory of one kind of device. `index` is which of its kind; sizes are in bytes. A copy
/// from or to the host has been made when the function returns; one within the device, before whatever it is asked for
/// next. Each throws Error(usage) where there is no such device, Error(io) with the device's reason where it refuses.
struct DeviceMemory {
  /// How many devices of the kind there are; 0 where there is none, or no driver.
  std::int32_t (*count)() = nullptr;
  /// Zeroed memory on a 64-byte boundary.
  void* (*allocate)(std::int32_t index, std::size_t bytes) = nullptr;
  void (*release)(std::int32_t index, void* memory, std::size_t bytes) noexcept = nullptr;
  /// From the host to the device.
  void (*copy_in)(std::int32_t index, void* to, const void* host, std::size_t bytes) = nullptr;
  /// From the device to the host.
  void (*copy_out)(std::int32_t index, void* host, const void* from, std::size_t bytes) = nullptr;
  /// From one place of the device to another.
  void (*copy_within)(std::int32_t index, void* to, const void* from, std::size_t bytes) = nullptr;
  /// Sends `count` doubles of the device home, for which nobody waits yet.
  std::unique_ptr<LateNumbers> (*send_home)(std::int32_t index, const double* from, std::size_t count) = nullptr;
  /// Sets `count` floats.
  void (*fill)(std::int32_t index, float* to, float value, std::size_t count) = nullptr;
  /// Whether an address is of this device.
  bool (*holds)(std::int32_t index, const void* memory) = nullptr;
  /// Before and after a computation of another library (DeviceUse): makes the device the current one of this thread.
  /// @returns what `leave` is given
  std::int32_t (*enter)(std::int32_t index) = nullptr;
  void (*leave)(std::int32_t entered) noexcept = nullptr;
  /// What its maker calls the device: "NVIDIA H200".
  std::string (*model)(std::int32_t index) = nullptr;
};

/// Memories by the name of their kind of device; empty until the library of a device is loaded.
Registry<DeviceMemory>& device_memories();

/// That of a kind of device, whose library is loaded for it. Throws Error(usage) where Stein was built without it.
const DeviceMemory& device_memory(Device::Kind kind);

/// Of the devices of a kind that of the how-manyth process of a machine: several take turns where there are fewer
/// devices. The first where there is none, which whoever uses it is told. Throws Error(usage) as device_memory.
Device device_of_process(Device::Kind kind, std::int32_t process);
/// Tells this process its number among those that work together on its machine; 0 until then. Before devices are used.
void set_process_on_machine(std::int32_t process);
/// The device that `text` means for this process: as parse_device, but without an index ("cuda") that of its number.
Device own_device(std::string_view text);

/// Throws Error(usage) saying what is missing where there is no such device.
void check_present(Device device);

/// Whether an address is of a device. Every address counts as one of the host: the host cannot tell.
bool lies_on(Device device, const void* memory);

/// While it lives, another library computes on a device by addresses of its memory. On the host it does nothing.
class DeviceUse {
 public:
  /// Throws Error(usage) where there is no such device.
  explicit DeviceUse(Device device);
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;
  ~DeviceUse();

 private:
  const DeviceMemory* memory_ = nullptr;  ///< none on the host
  std::int32_t entered_ = 0;
};

}  // namespace stein::inference
