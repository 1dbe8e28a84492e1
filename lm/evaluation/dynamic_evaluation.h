// A model that goes on learning from the text that it has been scored on.
#pragma once

#include <stein/inference/model.h>
#include <stein/lm/text/corpus.h>

#include <cstdint>
#include <span>

namespace stein::lm {

/// How fast it learns.
struct DynamicEvaluation {
  double rate = 0.1;  ///< of a step along the gradient of the loss, summed over a chunk (Fortunato et al. 2017: 0.1)
  std::int64_t unroll = 35;  ///< tokens of a chunk
};

/// Mean −log p of a text's tokens, each scored before the weights move (Mikolov et al. 2010): chunk by chunk the loss
/// of the tokens is counted, then θ ← θ + rate ∇ log p(chunk). State goes on from chunk to chunk.
/// @param weights  [P], a copy is moved
double dynamic_loss(inference::Model<float>& model, std::span<const float> weights, const Stretches& text,
                    const DynamicEvaluation& options);

}  // namespace stein::lm
