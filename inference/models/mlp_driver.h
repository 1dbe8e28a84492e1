// The launches of perceptrons on a device, and of structured weights there: a table of functions that the library of
// the device brings.
#pragma once

#include <stein/core/registry.h>
#include <stein/inference/models/mlp_launch.h>
#include <stein/inference/parameterizations/structure_launch.h>
#include <stein/inference/storage/device.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stein::inference {

/// Perceptrons on one kind of device; `index` is which of its kind. Launches and copies are made in the order in which
/// they are asked for, and need not be over when a function returns: DeviceMemory::copy_out waits. Each throws
/// Error(usage) where there is no such device, and Error(io) with the device's reason where it refuses.
struct MlpDriver {
  std::string_view name;  ///< "cuda"
  /// Bytes that the threads of a block can share.
  std::int64_t (*shared_bytes)(std::int32_t index);
  /// From the host to the device; the numbers of the host may change at once.
  void (*upload)(std::int32_t index, void* to, const void* host, std::size_t bytes);
  /// Takes all networks through all rows, and adds up the gradients of the shares.
  void (*pass)(std::int32_t index, const MlpLaunch& launch);
  /// Makes structured weights, or pulls their slopes back.
  void (*structure)(std::int32_t index, const StructureLaunch& launch);
};

/// Drivers by the name of their kind of device; empty until the library of a device is loaded.
Registry<const MlpDriver*>& mlp_drivers();

/// The driver of a device other than the host, whose library is loaded for it. Throws Error(usage) where Stein was
/// built without it.
const MlpDriver& mlp_driver(Device device);

}  // namespace stein::inference
