// What value networks say of the steps of rollouts that a device makes: asked of it, and answered.
#pragma once

#include <stein/agents/control/advantage_step.h>
#include <stein/inference/layout.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace stein::agents {

/// Value networks of all particles, or one for all of them, and whether advantages are made of what they say.
struct ValuedBy {
  const inference::Layout& layout;  ///< of their weights, as mlp_layout makes it
  inference::Activation activation;
  inference::MatrixView<const float> weights;  ///< [M, P], or [1, P]
  std::vector<float> units;                    ///< [M, 2] or [1, 2] mean and deviation: V = mean + deviation · output
  std::optional<AdvantageStep> advantage{};    ///< how those of the rewards as they are are made; nothing: none are
  bool horizon_is_an_end = false;              ///< nothing follows a truncated path or the last step
};

/// Values and advantages of what was collected, shard by shard; a shard's rows are step by step.
struct ValuedRows {
  std::int64_t capacity;           ///< steps that a shard has room for
  std::vector<float> values;       ///< [rows] V(s_t)
  std::vector<float> end_values;   ///< [rows] of the ends of truncated paths; others are old
  std::vector<float> next_values;  ///< [M · slots] of what follows the last step
  std::vector<float> advantages;   ///< [rows]; of a launch without them none, or old ones
};

}  // namespace stein::agents
