// The kernels of rollouts, for every task of envs/analytic_tasks.h. Pointers are to memory of the current device,
// `failure` too; every function returns before its kernel has run.
#pragma once

#include <stein/agents/control/rollout_plan.h>
#include <stein/envs/slot_memory.h>
#include <stein/envs/vector_environment.h>

#include <cstddef>
#include <cstdint>

struct CUstream_st;  // cudaStream_t points to it

namespace stein::agents::cuda {

/// Where kernels are put in order.
using GpuStream = CUstream_st*;

/// A step and a slot as one number, in order of steps: of those that fail the least is kept.
inline constexpr std::uint64_t no_failure = ~std::uint64_t{0};

/// Begins an episode in every slot. Throws Error(usage) for a task that is not listed, as all do.
void begin_slots(const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
                 float* observations, GpuStream stream);
/// Moves every slot by some steps; failure ← min(failure, step · slots + slot).
void step_slots(const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
                std::int64_t steps, const float* actions, const envs::SlotRecord& record, std::uint64_t* failure,
                GpuStream stream);
/// Plays the slots of all particles; failure likewise.
/// @returns the bytes of shared memory that a block takes: the kernel is started only if the device has them, which the
///          status of its start says
std::size_t play_blocks(const envs::AnalyticTask& task, const envs::SlotMemory& memory, const RolloutPlan& plan,
                        std::uint64_t* failure, GpuStream stream);

}  // namespace stein::agents::cuda
