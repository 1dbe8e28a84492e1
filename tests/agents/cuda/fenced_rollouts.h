// Rollouts on the fenced device: the bodies of the CUDA kernels, run on the host.
#pragma once

#include <stein/agents/control/rollout_driver.h>

#include "agents/cuda/play_on_host.h"
#include "inference/fenced_device.h"

namespace stein::test {

/// The fenced device; the first call registers its driver of rollouts.
inline inference::Device fenced_rollouts() {
  static const agents::RolloutDriver fenced{
      .name = "fenced",
      .begin =
          [](std::int32_t, const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
             float* observations) {
            const OpenFence open;
            envs::with_task(task.dynamics, [&](const auto& one) { begin_on_host(one, key, memory, observations); });
          },
      .step =
          [](std::int32_t, const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
             std::int64_t steps, const float* actions, const envs::SlotRecord& record) {
            const OpenFence open;
            std::optional<envs::StepFailure> failure;
            envs::with_task(task.dynamics, [&](const auto& one) {
              failure = step_on_host(one, task.options, key, memory, steps, actions, record);
            });
            return failure;
          },
      .collect =
          [](std::int32_t, const envs::AnalyticTask& task, const envs::SlotMemory& memory,
             const agents::RolloutPlan& plan) {
            const OpenFence open;
            std::optional<envs::StepFailure> failure;
            envs::with_task(task.dynamics,
                            [&](const auto& one) { failure = play_on_host(one, task.options, memory, plan); });
            return failure;
          }};
  static const bool registered = agents::rollout_drivers().add("fenced", &fenced);
  static_cast<void>(registered);
  return fenced_device();
}

}  // namespace stein::test
