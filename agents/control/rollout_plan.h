// Rollouts on a device as data: which slots, whose policies, and where everything goes. All pointers are to memory of
// the device.
#pragma once

#include <stein/agents/control/advantage_step.h>
#include <stein/agents/control/perceptron_shape.h>
#include <stein/policies/action_draw.h>

#include <cstdint>

namespace stein::agents {

inline constexpr std::int64_t shard_slots = 64;  ///< of one particle that are a task of their own, a block of a kernel

/// The networks of all particles, and what surrounds them.
struct PolicyPlan {
  PerceptronShape network;
  const float* weights;  ///< [M, stride]
  std::int64_t stride;
  policies::ActionDraw draw;
  const float* units;  ///< [O, 2] mean and scale of each number of an observation (ColumnUnit); null: seen as it is
};

/// The value networks of all particles, whose outputs v mean V = mean + deviation · v; and how advantages are made of
/// them where there is room for some. Without layers there are none.
struct ValuePlan {
  PerceptronShape network;
  const float* weights;  ///< [M, stride]
  std::int64_t stride;
  const float* units;  ///< [M, 2] mean and deviation of each
  AdvantageStep advantage;
  bool horizon_is_an_end;  ///< nothing follows a truncated path or the last step
};

/// Discounted sums of the episodes under way, between launches.
struct DiscountedSums {
  double* sum;     ///< [M · slots] Σ γᵗ r_t so far
  double* factor;  ///< [M · slots] γᵗ
};

/// What a launch writes. A shard is up to 64 slots of one particle; its rows are step by step, and begin at `capacity`
/// times the number of slots of all shards before it.
struct RolloutRows {
  std::int64_t capacity;     ///< steps that a shard has room for
  std::int64_t* steps;       ///< [shards] steps taken
  float* observations;       ///< [rows, O] before the step
  float* actions;            ///< [rows, A] as drawn
  float* rewards;            ///< [rows]
  float* terminated;         ///< [rows] 1 where the step reached a terminal state
  float* truncated;          ///< [rows] 1 where it was the last of the horizon
  float* counts;             ///< [rows] 1; 0 where nothing began within the steps of a whole path
  float* times;              ///< [rows] steps of the episode before this one
  float* end_observations;   ///< [rows, O] written where the step ended an episode: of its end
  float* total_rewards;      ///< [rows] written where the step ended an episode: undiscounted
  double* discounted;        ///< [rows] likewise, Σ γᵗ r_t
  float* next_observations;  ///< [M · slots, O] after the last step
  float* values;             ///< [rows] V(s_t), where there is a value network, as the next three
  float* next_values;        ///< [M · slots] of the next observations; 0 where the horizon is an end
  float* end_values;         ///< [rows] written where a path is truncated: V of its end
  float* advantages;         ///< [rows] of the rewards as they are; null: none are made
};

/// How much is collected, and the keys of what is drawn.
struct RolloutPlan {
  std::int64_t particles, slots, steps;  ///< of RolloutShape
  bool whole_paths;
  double discount;
  std::uint64_t environment_seed;
  std::int64_t steps_before;  ///< that the slots have taken since their reset
  NoiseKey decisions;         ///< of the first step; every step has the next number

  PolicyPlan policy;
  ValuePlan value;
  DiscountedSums sums;
  RolloutRows rows;

  STEIN_HOST_DEVICE std::int64_t shards_of_particle() const { return (slots + shard_slots - 1) / shard_slots; }
  STEIN_HOST_DEVICE std::int64_t shards() const { return particles * shards_of_particle(); }
  STEIN_HOST_DEVICE bool values_steps() const { return value.network.layers > 0; }
};

}  // namespace stein::agents
