// What a text costs where weights follow the gradient of what they are about to be scored on.
#pragma once

#include <stein/inference/models/sharpened_model.h>
#include <stein/lm/text/corpus.h>
#include <stein/training/weight_draws.h>

#include <cstdint>

namespace stein::lm {

/// The minibatches that weights are sharpened on, as in training.
struct SharpenedText {
  std::int64_t rows = 20, unroll = 35;
};

/// Mean over draws of φ and over tokens of KL[q(θ | φ, (x, y)) ‖ N(φ, σ₀² I)] − log p(y | θ, x), θ of each minibatch
/// being drawn once and what it carries going on to the next (Fortunato et al. 2017, eq. 17): an upper bound [nats].
/// Throws Error(data) if the text is shorter than a minibatch.
double sharpened_bound(inference::SharpenedModel<float>& model, training::WeightDraws& draws, const Stretches& text,
                       const SharpenedText& options, std::uint64_t seed);

}  // namespace stein::lm
