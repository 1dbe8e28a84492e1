// One draw of an action from the outputs of a policy network, written once for the loops of ActionDistribution and for
// kernels.
#pragma once

#include <stein/core/box_muller.h>
#include <stein/core/rng.h>

#include <cmath>
#include <cstdint>

namespace stein::policies {

/// Numbers that lie `stride` apart: a column of what a block of slots has, or, with 1, a row.
struct StridedNumbers {
  const float* data;
  std::int64_t stride = 1;

  STEIN_HOST_DEVICE float operator[](std::int64_t k) const { return data[k * stride]; }
};

/// The choice that 24 bits of a random word make in proportion to e^l, l the `choices` logits.
STEIN_HOST_DEVICE inline std::int64_t draw_choice(StridedNumbers logits, std::int64_t choices, std::uint32_t word) {
  float top = logits[0];
  for (std::int64_t k = 1; k < choices; ++k) top = top < logits[k] ? logits[k] : top;
  float total = 0;
  for (std::int64_t k = 0; k < choices; ++k) total += std::exp(logits[k] - top);
  float left = (static_cast<float>(word >> 8) + 0.5F) * 0x1p-24F * total;
  // Rounding may leave something after all shares: then it is the last choice that has one.
  std::int64_t choice = 0;
  for (std::int64_t k = 0; k < choices && left >= 0; ++k) {
    const float share = std::exp(logits[k] - top);
    if (share == 0) continue;
    left -= share;
    choice = k;
  }
  return choice;
}

/// Bounds of the log sd of an action, in units of the action.
inline constexpr float lowest_log_deviation = -5, highest_log_deviation = 2;

/// The log sd within its bounds.
/// @param own    what the network says of it: an output, or a constant
/// @param start  the log sd that an `own` of 0 means
STEIN_HOST_DEVICE inline float bounded_log_deviation(float own, float start) {
  const float log_sd = own + start;
  return log_sd < lowest_log_deviation    ? lowest_log_deviation
         : log_sd > highest_log_deviation ? highest_log_deviation
                                          : log_sd;
}

/// The draw of a distribution as data: ActionDistribution::draw of one row.
struct ActionDraw {
  std::int64_t choices = 0;      ///< > 0: the action is one of so many, the outputs are their logits; 0: Gaussian
  std::int64_t actions = 1;      ///< numbers of an action
  bool deviation_moves = false;  ///< of a Gaussian: outputs are means, then log sds; false: log sds are constants
  float start = 0;               ///< of a Gaussian: the log sd that an output or constant of 0 means

  /// Number `a` of the action of row `index` of the sheet of random numbers.
  /// @param row  of the sheet
  STEIN_HOST_DEVICE float operator()(StridedNumbers outputs, const float* constants, const NoiseKey& noise,
                                     std::uint32_t row, std::int64_t index, std::int64_t a) const {
    const std::int64_t number = index * actions + a;
    const PhiloxBlock words = random_block(noise, row, static_cast<std::uint32_t>(number / 4));
    const bool second_half = number % 4 >= 2, odd = number % 2 != 0;
    const std::uint32_t word0 = second_half ? words[2] : words[0], word1 = second_half ? words[3] : words[1];
    if (choices > 0) return static_cast<float>(draw_choice(outputs, choices, odd ? word1 : word0));
    const NormalPair<float> normals = box_muller_steps<FloatOperations>(word0, word1);
    const float own = deviation_moves ? outputs[actions + a] : constants[a];
    return outputs[a] + std::exp(bounded_log_deviation(own, start)) * (odd ? normals.second : normals.first);
  }
};

}  // namespace stein::policies
