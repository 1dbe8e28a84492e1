// One slot of a control task in the registers of a thread: what VectorEnvironment does to it, number for number.
#pragma once

#include <stein/envs/action_bounds.h>
#include <stein/envs/dynamics.h>
#include <stein/envs/slot_memory.h>

#include <cmath>
#include <cstdint>

namespace stein::envs::cuda {

/// What stands between an agent and the slots of a task, as a kernel has it: when episodes are truncated, which actions
/// may be taken and what they become.
template <class Task>
struct SlotRules {
  float horizon;  ///< steps after which an episode is truncated
  float choices;  ///< an action is a whole number from 0 to this − 1; 0: it is numbers
  bool maps;      ///< actions are in [−1, 1] and mapped to the bounds
  bool clips;     ///< what lies outside the bounds acts as the bound does; false: it must not be given
  float low[Task::action_size], high[Task::action_size];

  /// Throws what ActionBounds does. @param options  with a horizon
  SlotRules(const Task& task, const ControlOptions& options)
      : horizon(static_cast<float>(options.horizon)), maps(options.normalize_actions), clips(options.clip_actions) {
    const ControlSpec spec = task.spec();
    static_cast<void>(ActionBounds(spec, options));
    choices = static_cast<float>(spec.choices);
    for (std::size_t a = 0; a < spec.action.size(); ++a) {
      low[a] = static_cast<float>(spec.action[a].low);
      high[a] = static_cast<float>(spec.action[a].high);
    }
  }

  /// Whether an action may be taken: ActionBounds::allow.
  STEIN_HOST_DEVICE bool allow(const float (&action)[Task::action_size]) const {
    bool allowed = true;
    for (int a = 0; a < Task::action_size; ++a) {
      const float value = action[a];
      if (choices > 0)
        allowed = allowed && value >= 0 && value < choices && value == std::floor(value);
      else if (clips)
        allowed = allowed && std::isfinite(value);
      else
        allowed = allowed && value >= (maps ? -1 : low[a]) && value <= (maps ? 1 : high[a]);
    }
    return allowed;
  }
  /// What the task is given: ActionBounds::map where actions are mapped.
  STEIN_HOST_DEVICE void map(float (&action)[Task::action_size]) const {
    if (!maps) return;
    for (int a = 0; a < Task::action_size; ++a) {
      const float half = (high[a] - low[a]) / 2, middle = (high[a] + low[a]) / 2, value = middle + half * action[a];
      action[a] = value < low[a] ? low[a] : value > high[a] ? high[a] : value;
    }
  }
};

/// What a step gave besides the next state and its observation.
struct SlotStep {
  float reward;
  float terminated;  ///< 1 where the state is terminal, else 0
  float truncated;   ///< 1 where the step was the last of the horizon and the state is not terminal, else 0
  bool finite;       ///< reward and observation

  STEIN_HOST_DEVICE bool ended() const { return terminated != 0 || truncated != 0; }
};

/// The episode under way in a slot.
template <class Task>
struct SlotEpisode {
  static constexpr int state_size = Task::state_size, observation_size = Task::observation_size,
                       action_size = Task::action_size;

  float state[state_size];
  float total_reward;  ///< undiscounted
  float length;        ///< steps taken

  /// Draws where the next episode begins.
  /// @param steps  that the slots have taken since their reset
  /// @param row    global number of the slot
  STEIN_HOST_DEVICE void begin(const Task& task, std::uint64_t seed, std::uint64_t steps, std::uint32_t row) {
    Draws draws({.seed = seed, .step = steps, .stream = Stream::context}, row);
    double start[state_size];
    task.reset(draws, start);
    for (int k = 0; k < state_size; ++k) state[k] = static_cast<float>(start[k]);
    total_reward = length = 0;
  }

  /// One step under an action as the task is given it; writes the observation of the state that it leads to.
  STEIN_HOST_DEVICE SlotStep step(const Task& task, float horizon, const float (&action)[action_size],
                                  float (&observation)[observation_size]) {
    const Outcome<float> outcome = task.step(state, action);
    task.observe(state, observation);
    total_reward += outcome.reward;
    length += 1;
    bool finite = std::isfinite(outcome.reward);
    for (const float number : observation) finite = finite && std::isfinite(number);
    const bool over = length >= horizon && outcome.terminated == 0;
    return {outcome.reward, outcome.terminated, over ? 1.0F : 0.0F, finite};
  }
};

/// The episode of a slot from the memory of all.
template <class Task>
STEIN_HOST_DEVICE SlotEpisode<Task> load_episode(const SlotMemory& memory, std::int64_t slot) {
  SlotEpisode<Task> episode;
  for (int k = 0; k < Task::state_size; ++k) episode.state[k] = memory.state[k * memory.slots + slot];
  episode.total_reward = memory.total_rewards[slot];
  episode.length = memory.lengths[slot];
  return episode;
}

/// Back to where it came from.
template <class Task>
STEIN_HOST_DEVICE void store_episode(const SlotMemory& memory, std::int64_t slot, const SlotEpisode<Task>& episode) {
  for (int k = 0; k < Task::state_size; ++k) memory.state[k * memory.slots + slot] = episode.state[k];
  memory.total_rewards[slot] = episode.total_reward;
  memory.lengths[slot] = episode.length;
}

}  // namespace stein::envs::cuda
