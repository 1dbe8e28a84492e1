// Episodes under the present policies: every particle plays its own.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/vector_environment.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/policies/control_policy.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace stein::agents {

/// An episode that ended while it was collected.
struct FinishedEpisode {
  std::int64_t particle = 0;
  std::int64_t length = 0;       ///< steps
  double total_reward = 0;       ///< undiscounted
  double discounted_reward = 0;  ///< Σ γᵗ r_t
  bool terminated = false;       ///< false: truncated at the horizon
};

/// How much is collected at a time.
struct RolloutShape {
  std::int64_t particles = 1;
  std::int64_t slots = 8;    ///< of every particle, side by side
  std::int64_t steps = 5;    ///< of every slot
  bool whole_paths = false;  ///< begin anew each time, and play every path that began within `steps` to its end
  double discount = 0.99;    ///< of `discounted_reward`
};

/// Some slots of one particle and what happened in them; rows are step by step, [steps, slots]. A task of its own: it
/// shares nothing with others, so results do not depend on threads.
struct RolloutShard {
  std::int64_t particle = 0, first_slot = 0, slots = 0;  ///< of this particle
  std::int64_t steps = 0;                                ///< taken in the last collection
  std::unique_ptr<envs::VectorEnvironment> environment;
  std::vector<float> observations;         ///< [rows, O] before the step
  std::vector<float> actions;              ///< [rows, A] as drawn
  std::vector<float> rewards;              ///< [rows]
  std::vector<float> terminated;           ///< [rows] 1 where the step reached a terminal state
  std::vector<float> truncated;            ///< [rows] 1 where it was the last of the horizon
  std::vector<float> counts;               ///< [rows] 1; 0 where nothing began within the steps of a whole path
  std::vector<float> times;                ///< [rows] steps of the episode before this one
  std::vector<float> final_observations;   ///< of truncated episodes, by row; [k, O]
  std::vector<std::int64_t> final_rows;    ///< [k] whose step it was
  std::vector<float> next_observations;    ///< [slots, O] after the last step
  std::vector<FinishedEpisode> episodes;   ///< that ended, in order
  std::vector<float> episode_times;        ///< [slots] of the episodes under way
  std::vector<double> discounted, factor;  ///< [slots] Σ γᵗ r_t so far, and γᵗ

  std::int64_t rows() const { return steps * slots; }
};

/// Collects steps of many slots under the policies of all particles, in parallel over shards of them.
class Rollouts {
 public:
  /// Throws Error(usage) for a shape that makes no sense, and what the environment throws.
  Rollouts(const envs::ControlEntry::Builder& builder, const RolloutShape& shape, std::uint64_t seed);

  /// The next steps; those of the last call are gone.
  void collect(const policies::ControlPolicy& policy);

  const RolloutShape& shape() const { return shape_; }
  const envs::ControlSpec& spec() const { return shards_.front().environment->spec(); }
  /// By particle, and within a particle by slot.
  std::span<const RolloutShard> shards() const { return shards_; }
  /// Environment steps of all particles so far that count.
  std::int64_t total_steps() const { return total_steps_; }

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  void play(RolloutShard& shard, const policies::ControlPolicy& policy) const;
  std::string identity() const;

  RolloutShape shape_;
  std::uint64_t seed_;
  std::int64_t collections_ = 0;
  std::int64_t total_steps_ = 0;
  std::vector<RolloutShard> shards_;
};

}  // namespace stein::agents
