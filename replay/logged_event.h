// A decision that somebody made and logged, with what came of it.
#pragma once

#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <vector>

namespace stein::replay {

/// What a line of a log says; the vectors are used again for the next one.
struct LoggedEvent {
  std::int64_t time = 0;              ///< as the log has it [s], 0 where it has none
  std::vector<float> dense;           ///< what all arms share, [context_size]
  std::vector<std::int32_t> present;  ///< [choices] numbers of the arms that could be chosen, each once
  std::vector<float> arm_features;    ///< [choices · arm_features]
  std::int64_t action = 0;            ///< the arm that was chosen, one of `present`
  double reward = 0;                  ///< what it paid
  double propensity = 1;              ///< with which it was chosen, in (0, 1]

  envs::Context context() const { return {.dense = dense, .present = present, .arm_features = arm_features}; }
};

}  // namespace stein::replay
