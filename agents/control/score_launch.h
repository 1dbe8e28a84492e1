// Scores of policies and value networks on a device as data. All pointers are to memory of the device.
#pragma once

#include <stein/agents/control/surrogate.h>
#include <stein/inference/models/device_score.h>
#include <stein/policies/action_score.h>

#include <cstdint>

namespace stein::agents {

/// What PolicyObjective scores, of every row of all particles, [M·n].
struct PolicyScoreLaunch {
  static constexpr std::int64_t summed_rows = 128;  ///< whose slopes of log sds are added up together

  inference::DeviceOutputs outputs{};
  policies::ActionScore law{};
  Surrogate surrogate{};
  float entropy_weight = 0;
  const float* actions = nullptr;      ///< [M·n, A]
  const float* advantages = nullptr;   ///< [M·n]
  const float* scale = nullptr;        ///< [M·n]
  const float* log_density = nullptr;  ///< [M·n] log π_old; null: without a clip ratio
  float* log_ratio = nullptr;          ///< [M·n] to be written; null: not wanted
  float* of_log_sd = nullptr;          ///< [m·n, constants] slopes of log sds, row by row
  double* sums = nullptr;              ///< [m, chunks, constants] those of a few rows

  /// Groups of rows of a network that are added up together.
  STEIN_HOST_DEVICE std::int64_t chunks() const { return (outputs.rows + summed_rows - 1) / summed_rows; }
  /// The row of all particles that row `index` of the networks is.
  STEIN_HOST_DEVICE std::int64_t place(std::int64_t index) const {
    return outputs.first_particle * outputs.rows + index;
  }
};

/// What ValueObjective scores.
struct ValueScoreLaunch {
  inference::DeviceOutputs outputs{};  ///< K = 1
  const float* targets = nullptr;      ///< [M·n]
  const float* scale = nullptr;        ///< [M·n]
};

}  // namespace stein::agents
