// What is collected of some slots of one particle.
#pragma once

#include <stein/envs/vector_environment.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  std::vector<float> values;               ///< [rows] V(s_t) by whoever collected them; empty: they are to be valued
  std::vector<float> final_values;         ///< [k] beside `values`, of the final observations
  std::vector<float> next_values;          ///< [slots] beside `values`, of the next observations
  std::vector<float> advantages;           ///< [rows] of the rewards as they are; empty: they are to be estimated
  std::vector<FinishedEpisode> episodes;   ///< that ended, in order
  std::vector<float> episode_times;        ///< [slots] of the episodes under way
  std::vector<double> discounted, factor;  ///< [slots] Σ γᵗ r_t so far, and γᵗ

  std::int64_t rows() const { return steps * slots; }
  /// How many of them count.
  std::int64_t counted_rows() const;

  /// Keeps an episode that has ended, unless it counts more steps than slots have made since their reset: then it was
  /// given an age (`ages_at_start`) and is no whole one.
  void add_episode(const FinishedEpisode& episode, std::int64_t steps_since_reset) {
    if (episode.length <= steps_since_reset) episodes.push_back(episode);
  }
  /// Makes room for so many rows; keeps what is there.
  void reserve(std::int64_t rows);
  /// Appends all of the last collection, and where the episodes under way are, to a message for another rank.
  void write(std::string& message) const;
  /// Takes it off the front of a message: the shard is then as the one that was written.
  void read(std::string_view& message);
};

}  // namespace stein::agents
