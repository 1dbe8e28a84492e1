// The launches that score outputs of policies and value networks on a device: a table of functions that the library of
// the device brings.
#pragma once

#include <stein/agents/control/score_launch.h>
#include <stein/core/registry.h>

#include <cstdint>
#include <string_view>

namespace stein::agents {

/// Scores on one kind of device; `index` is which of its kind. Launches are made behind what the device has been asked
/// for, and need not be over when a function returns. Each throws Error(usage) where there is no such device, and
/// Error(io) with the device's reason where it refuses.
struct ScoreDriver {
  std::string_view name;  ///< "cuda"
  void (*policies)(std::int32_t index, const PolicyScoreLaunch& launch);
  void (*values)(std::int32_t index, const ValueScoreLaunch& launch);
};

/// Drivers by the name of their kind of device; empty until the library of a device is loaded.
Registry<const ScoreDriver*>& score_drivers();

/// The driver of a device other than the host, whose library is loaded for it. Throws Error(usage) where Stein was
/// built without it.
const ScoreDriver& score_driver(inference::Device device);

}  // namespace stein::agents
