// The memory that a block of the kernel of rollouts shares, for the kernel and for whoever asks whether networks fit.
#pragma once

#include <stein/agents/control/rollout_plan.h>

#include <cstdint>

namespace stein::agents::cuda {

inline constexpr int tile_slots = 4;  ///< that a thread takes through a layer together: the numbers of one load

/// Where the parts of a block's shared memory begin, in floats, each on a 16-byte boundary.
struct SharedPlaces {
  int pitch;  ///< from one number of all slots to the next: the slots and four more, so that banks do not collide
  int value, inputs, first, second, size;

  STEIN_HOST_DEVICE SharedPlaces(const RolloutPlan& plan, int observation_size)
      : pitch(tiles(plan) * tile_slots + tile_slots) {
    const PerceptronShape &policy = plan.policy.network, &judge = plan.value.network;
    const int widest = policy.widest > judge.widest ? policy.widest : judge.widest;
    value = policy.size;
    inputs = value + judge.size;
    first = inputs + observation_size * pitch;
    second = first + widest * pitch;
    size = second + widest * pitch;
  }
  /// Tiles of slots that a block has at most.
  STEIN_HOST_DEVICE static int tiles(const RolloutPlan& plan) {
    const std::int64_t most = plan.slots < shard_slots ? plan.slots : shard_slots;
    return static_cast<int>((most + tile_slots - 1) / tile_slots);
  }
};

}  // namespace stein::agents::cuda
