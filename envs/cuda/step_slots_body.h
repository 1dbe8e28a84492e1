// What a thread of the kernel that steps slots does: one slot through all steps of a launch, its state in registers.
#pragma once

#include <stein/envs/cuda/slot_episode.h>

namespace stein::envs::cuda {

/// Begins an episode in one slot and writes its observation.
template <class Task>
struct BeginSlots {
  Task task;
  SlotKey key;
  SlotMemory memory;
  float* observations;  ///< [slots, O]

  STEIN_HOST_DEVICE void operator()(std::int64_t slot) const {
    SlotEpisode<Task> episode;
    episode.begin(task, key.seed, static_cast<std::uint64_t>(key.steps),
                  static_cast<std::uint32_t>(key.first_slot + slot));
    float seen[Task::observation_size];
    task.observe(episode.state, seen);
    for (int k = 0; k < Task::observation_size; ++k) observations[slot * Task::observation_size + k] = seen[k];
    store_episode(memory, slot, episode);
  }
};

/// Moves one slot by some steps under given actions; where a step ends an episode, the next begins at once.
template <class Task>
struct StepSlots {
  Task task;
  SlotRules<Task> rules;
  SlotKey key;
  SlotMemory memory;
  std::int64_t steps;    ///< of the launch
  const float* actions;  ///< [steps, slots, A]
  SlotRecord record;

  /// @returns the first step of the launch whose action is not allowed, or whose observation or reward is not finite:
  ///          the slot goes no further then. `steps` where all are in order
  STEIN_HOST_DEVICE std::int64_t operator()(std::int64_t slot) const {
    constexpr int seen_size = Task::observation_size, action_size = Task::action_size;
    SlotEpisode<Task> episode = load_episode<Task>(memory, slot);
    std::int64_t t = 0;
    for (; t < steps; ++t) {
      const std::int64_t row = t * memory.slots + slot;
      float action[action_size], seen[seen_size];
      for (int a = 0; a < action_size; ++a) action[a] = actions[row * action_size + a];
      if (!rules.allow(action)) break;
      rules.map(action);
      const SlotStep made = episode.step(task, rules.horizon, action, seen);
      if (!made.finite) break;
      record.rewards[row] = made.reward;
      record.terminated[row] = made.terminated;
      record.truncated[row] = made.truncated;
      if (made.ended()) {
        for (int k = 0; k < seen_size; ++k) record.final_observations[row * seen_size + k] = seen[k];
        record.total_rewards[row] = episode.total_reward;
        record.lengths[row] = episode.length;
        episode.begin(task, key.seed, static_cast<std::uint64_t>(key.steps + t + 1),
                      static_cast<std::uint32_t>(key.first_slot + slot));
        task.observe(episode.state, seen);
      }
      for (int k = 0; k < seen_size; ++k) record.observations[row * seen_size + k] = seen[k];
    }
    store_episode(memory, slot, episode);
    return t;
  }
};

}  // namespace stein::envs::cuda
