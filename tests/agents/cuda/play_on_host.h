// The kernels of rollouts on the host: blocks one after the other, the last first, phases between barriers by loops
// over threads, the last first too, since no order is promised; shared memory is an array of the block.
#pragma once

#include <stein/agents/cuda/rollout_body.h>
#include <stein/envs/analytic_tasks.h>
#include <stein/envs/cuda/step_slots_body.h>
#include <stein/envs/vector_environment.h>

#include <limits>
#include <optional>
#include <vector>

namespace stein::test {

/// The threads of a block, as `play` asks for them.
template <class Task>
class RolloutThreadsOnHost {
 public:
  int count() const { return agents::cuda::rollout_threads; }
  template <class Phase>
  void each(const Phase& phase) {
    for (int thread = count() - 1; thread >= 0; --thread) phase(thread, own_[static_cast<std::size_t>(thread)]);
  }
  template <class Phase>
  bool any(const Phase& phase) {
    bool yes = false;
    each([&](int thread, auto& own) { yes = phase(thread, own) || yes; });
    return yes;
  }
  void fail(std::int64_t step, std::int64_t slot) {
    if (!failure || step < failure->step || (step == failure->step && slot < failure->slot))
      failure = envs::StepFailure{.step = step, .slot = slot};
  }

  std::optional<envs::StepFailure> failure;

 private:
  struct Registers {
    agents::cuda::SlotThread<Task> slot{};
    agents::cuda::StepFlags flags{};
  };
  std::vector<Registers> own_ = std::vector<Registers>(agents::cuda::rollout_threads);
};

/// The kernel that plays. @returns the first failure of the first block that has one
template <class Task>
std::optional<envs::StepFailure> play_on_host(const Task& task, const envs::ControlOptions& options,
                                              const envs::SlotMemory& memory, const agents::RolloutPlan& plan) {
  const envs::cuda::SlotRules<Task> rules(task, options);
  std::optional<envs::StepFailure> failure;
  for (std::int64_t index = plan.shards() - 1; index >= 0; --index) {
    const agents::cuda::SharedPlaces places(plan, Task::observation_size);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<inference::cuda::FourNumbers> shared(static_cast<std::size_t>(places.size / 4 + 1),
                                                     {{nan, nan, nan, nan}});
    const agents::cuda::RolloutBlock<Task> block(task, rules, memory, plan, index, shared.front().number);
    RolloutThreadsOnHost<Task> threads;
    agents::cuda::play(block, threads);
    if (threads.failure) failure = threads.failure;
  }
  return failure;
}

/// The kernel that steps slots under given actions.
template <class Task>
std::optional<envs::StepFailure> step_on_host(const Task& task, const envs::ControlOptions& options,
                                              const envs::SlotKey& key, const envs::SlotMemory& memory,
                                              std::int64_t steps, const float* actions,
                                              const envs::SlotRecord& record) {
  const envs::cuda::StepSlots<Task> body{task,  envs::cuda::SlotRules<Task>(task, options), key, memory, steps, actions,
                                         record};
  std::optional<envs::StepFailure> failure;
  for (std::int64_t slot = memory.slots - 1; slot >= 0; --slot) {
    const std::int64_t made = body(slot);
    if (made < steps && (!failure || made <= failure->step)) failure = envs::StepFailure{.step = made, .slot = slot};
  }
  return failure;
}

/// The kernel that begins episodes.
template <class Task>
void begin_on_host(const Task& task, const envs::SlotKey& key, const envs::SlotMemory& memory, float* observations) {
  const envs::cuda::BeginSlots<Task> body{task, key, memory, observations};
  for (std::int64_t slot = memory.slots - 1; slot >= 0; --slot) body(slot);
}

}  // namespace stein::test
