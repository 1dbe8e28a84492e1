// The launches that move the slots of a task on a device: a table of functions that the library of the device brings.
#pragma once

#include <stein/agents/control/rollout_plan.h>
#include <stein/core/registry.h>
#include <stein/envs/slot_memory.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace stein::agents {

/// Rollouts on one kind of device; `index` is which of its kind, and all pointers are to its memory. A function returns
/// when all has been done, with the first step that failed if one did. Each throws Error(usage) for a task that is not
/// one of envs/analytic_tasks.h, and Error(io) with the device's reason where it refuses.
struct RolloutDriver {
  std::string_view name;  ///< "cuda"
  /// Begins an episode in every slot, and writes the observations [slots, O].
  void (*begin)(std::int32_t index, const envs::AnalyticTask& task, const envs::SlotKey& key,
                const envs::SlotMemory& memory, float* observations);
  /// Moves every slot by `steps` steps under `actions` [steps, slots, A]; the next episode of a slot begins at once.
  std::optional<envs::StepFailure> (*step)(std::int32_t index, const envs::AnalyticTask& task, const envs::SlotKey& key,
                                           const envs::SlotMemory& memory, std::int64_t steps, const float* actions,
                                           const envs::SlotRecord& record);
  /// Plays the slots of all particles under their policies, and values what they did.
  /// Throws Error(usage) where the networks do not fit the memory that a block shares.
  std::optional<envs::StepFailure> (*collect)(std::int32_t index, const envs::AnalyticTask& task,
                                              const envs::SlotMemory& memory, const RolloutPlan& plan);
};

/// Drivers by the name of their kind of device; empty until the library of a device is loaded.
Registry<const RolloutDriver*>& rollout_drivers();

/// The driver of a device other than the host, whose library is loaded for it. Throws Error(usage) where Stein was
/// built without it.
const RolloutDriver& rollout_driver(inference::Device device);

}  // namespace stein::agents
