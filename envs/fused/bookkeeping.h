// What a step of many slots costs besides the dynamics, compiled for every SIMD target and chosen at run time: are the
// actions in order, whose episode ends, are the observations finite.
#pragma once

#include <cstdint>
#include <span>

namespace stein::envs::fused {

bool all_finite(std::span<const float> values);
/// Whether all are whole numbers from 0 to choices − 1.
bool all_choices(std::span<const float> values, std::int64_t choices);
/// Whether values 0, width, 2·width … lie in [low, high].
bool all_within(std::span<const float> values, std::int64_t width, float low, float high);

/// The episodes under way in a block of slots, and the step that they have just taken.
struct EpisodeBlock {
  std::int64_t first;  ///< number of the first slot
  std::int64_t slots;
  float horizon;            ///< steps after which an episode is truncated
  const float* rewards;     ///< [slots]
  const float* terminated;  ///< [slots] 1 or 0
  float* truncated;         ///< [slots] becomes 1 at the horizon unless the state is terminal, else 0
  float* returns;           ///< [slots] grow by the rewards
  float* lengths;           ///< [slots] grow by 1
  std::int32_t* ended;      ///< [slots] becomes the slots whose episode has ended, ascending
};

/// Counts a step; returns how many episodes it ended.
std::int64_t count_step(const EpisodeBlock& block);

}  // namespace stein::envs::fused
