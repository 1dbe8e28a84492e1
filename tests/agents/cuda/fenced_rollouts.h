// Rollouts and scores on the fenced device: the bodies of the CUDA kernels, run on the host.
#pragma once

#include <stein/agents/control/rollout_driver.h>
#include <stein/agents/control/score_driver.h>
#include <stein/agents/cuda/score_body.h>

#include "agents/cuda/play_on_host.h"
#include "inference/cuda/networks_on_host.h"

namespace stein::test {

/// What `score_policies` asks for.
struct ScoresOnHost {
  template <class Body>
  void each(std::int64_t count, const Body& body) {
    for_each_index(count, body);
  }
};

/// The fenced device; the first call registers its drivers of rollouts, scores and networks.
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
  static const agents::ScoreDriver scores{.name = "fenced",
                                          .policies =
                                              [](std::int32_t, const agents::PolicyScoreLaunch& launch) {
                                                const OpenFence open;
                                                ScoresOnHost work;
                                                agents::cuda::score_policies(launch, work);
                                              },
                                          .values =
                                              [](std::int32_t, const agents::ValueScoreLaunch& launch) {
                                                const OpenFence open;
                                                for_each_index(launch.outputs.networks * launch.outputs.rows,
                                                               agents::cuda::ScoreValueRow{launch});
                                              }};
  static const bool registered =
      agents::rollout_drivers().add("fenced", &fenced) && agents::score_drivers().add("fenced", &scores);
  static_cast<void>(registered);
  return fenced_networks();
}

}  // namespace stein::test
