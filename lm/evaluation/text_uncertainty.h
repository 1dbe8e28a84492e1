// What draws of the weights together say of every token of a text, and how sure they are.
#pragma once

#include <stein/lm/text/corpus.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::lm {

/// A token that may come next, and its probability.
struct LikelyToken {
  std::int32_t token = 0;
  double probability = 0;
};

/// One number for every token of a text but the first of each stretch, in the order of the text.
struct TextUncertainty {
  std::vector<float> log_probability;      ///< of the token, under the average over all draws
  std::vector<float> entropy;              ///< of the average [nats] (Fortunato et al. 2017, eq. 19)
  std::vector<float> mean_entropy;         ///< of single draws, averaged: the rest of `entropy` is their disagreement
  std::vector<std::vector<float>> single;  ///< log p under draw k, one list a draw
  /// [draws] Entropy of the average over the first 1, 2, … draws, its mean over all tokens [nats].
  std::vector<double> entropy_of_first;
  /// What the average holds for likeliest in the place of each token, the likeliest first; as many as were asked for.
  std::vector<std::vector<LikelyToken>> likeliest;
};

/// The mean of a list that has a number for each token.
double mean_of_tokens(std::span<const float> numbers);

/// How a text is read.
struct UncertaintyOptions {
  std::int64_t likeliest = 0;  ///< tokens that are told in the place of each, at most all of the vocabulary
  /// Tokens whose distributions are held at once, and which one draw of the weights reads before the next draw is asked
  /// for. 0: as many as have 2²³ probabilities, from 256 to 4,096.
  std::int64_t chunk = 0;
};

/// Reads the text once under every draw, with all of it that stands before a token known (`TextProtocol::stateful_1`).
/// Memory holds the distributions of a chunk, one draw of the weights and the state of each draw.
/// @throws Error(data) for a stretch of less than two tokens
TextUncertainty text_uncertainty(inference::Model<float>& model, training::WeightDraws& draws, const Stretches& text,
                                 const UncertaintyOptions& options = {});

/// The text back to front, stretch by stretch: as long, of the same words, and no text of its language.
Stretches reversed(const Stretches& text);

/// The first stretches of a text, whole ones and as many as have `tokens` together; of the first stretch its beginning,
/// where it is longer.
Stretches beginning_of(const Stretches& text, std::int64_t tokens);

}  // namespace stein::lm
