// The slots of a control task in the memory of a device, between and after the launches of kernels that move them.
#pragma once

#include <cstdint>

namespace stein::envs {

/// Which slots, and the key of where their episodes begin.
struct SlotKey {
  std::uint64_t seed;
  std::int64_t first_slot;  ///< global number of slot 0
  std::int64_t steps;       ///< that the slots have taken since their reset
};

/// The episodes under way in all slots.
struct SlotMemory {
  std::int64_t slots;
  float* state;          ///< [states, slots]
  float* total_rewards;  ///< [slots] undiscounted
  float* lengths;        ///< [slots] steps taken
};

/// What is kept of the steps of a launch, row by row. The row of step t and slot i is t · slots + i.
struct SlotRecord {
  float* observations;        ///< [rows, O] after the step; where it ended an episode, of the next one's start
  float* final_observations;  ///< [rows, O] written where the step ended an episode: of its end
  float* rewards;             ///< [rows]
  float* terminated;          ///< [rows] 1 where the step reached a terminal state, else 0
  float* truncated;           ///< [rows] 1 where it was the last of the horizon and its state is not terminal, else 0
  float* total_rewards;       ///< [rows] written where the step ended an episode: of the episode
  float* lengths;             ///< [rows] likewise, its steps
};

/// The first step of a launch that could not be taken as it should: its action is not allowed, or its reward or
/// observation is not finite.
struct StepFailure {
  std::int64_t step;  ///< of the launch
  std::int64_t slot;
};

}  // namespace stein::envs
