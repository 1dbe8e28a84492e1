// What `stein bench envs-gpu` and `stein bench rollouts-gpu` measure, on any device.
#pragma once

#include <stein/bench/benchmark.h>
#include <stein/inference/storage/device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::bench {

/// How many slots are moved, on the device and beside it on the processor.
struct SlotCounts {
  std::int64_t on_device;
  std::int64_t on_host;
};

/// Steps a second of the control tasks that are data, in slots that lie on a device: `steps` of every slot in one
/// launch under actions that lie there, with everything that VectorEnvironment gives of each step kept there. The
/// reference is VectorEnvironment on all cores that the process has. A row for every task whose name begins with
/// `only`.
/// @throws Error(usage)    where there is no such device, or no task has such a name
/// @throws Error(io)       where the device has no room
/// @throws Error(numeric)  where steps on the device do not do what those on the host do
std::vector<Row> measure_slots_on(inference::Device device, const SlotCounts& slots, std::int64_t steps,
                                  const std::string& only, const PairSettings& settings = {});

/// Agent steps a second of one launch that plays a task, under a policy of two hidden layers of 64, values every step
/// by a network of as many, and makes advantages: what A2C collects. All of it stays on the device. The reference is
/// Rollouts on all cores with the same policy, without values.
/// @param steps  of every slot
/// @throws       as measure_slots_on
std::vector<Row> measure_rollouts_on(inference::Device device, const SlotCounts& slots, std::int64_t steps,
                                     const std::string& only, const PairSettings& settings = {});

}  // namespace stein::bench
