// What the report shows of a trained language model word by word: the object of uncertainty.json.
#pragma once

#include <stein/lm/text/corpus.h>
#include <stein/lm/text/vocabulary.h>
#include <stein/training/weight_draws.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

namespace stein::lm {

/// Tokens of the test text, from its beginning, that the entropy gap and the pruning curve of the report are measured
/// on: enough for a picture; `stein lm eval` measures both on all of it.
inline constexpr std::int64_t curve_tokens = 2'000;
/// The share of pruned weights whose places the report shows (Fortunato et al. 2017, supplement A.3: about what a
/// network of Bayes by Backprop can do without).
inline constexpr double pattern_share = 0.8;

/// How sure the draws of the weights are of the beginning of a text:
///   draws    how many are averaged
///   passage  the first `passage` tokens that are predicted, and what stands before them, one list each: `tokens` as a
///   person reads them, `entropy` of the average
///            [nats], `mutual_information` of token and weights [nats], `probability` of the token under the average,
///            `samples`, the same under three of the draws (or all, if there are fewer), `likeliest`, the three tokens
///            that the average holds for likeliest, each [token, probability]. Null for a token that nothing stands
///            before.
///   gap      over the first `tokens` of the text: mean entropy [nats] of averages over the first 1, 2, … draws, of the
///            `text` and of the `reversed` one (Fortunato et al. 2017, eq. 20)
///   pruning  perplexity of the first `tokens` where the share `share` of the weights is zero, the least `by` first:
///            "signal to noise", |μ|/σ, or "magnitude", |w|; `pattern` says where those are, matrix by matrix, in per
///            cent of a grid's cells. Null for particles, which have no weights in common.
/// @param draws  of `weights`
/// @throws Error(data) for a stretch of less than two tokens
nlohmann::ordered_json uncertainty_json(training::NetworkWeights& weights, training::WeightDraws& draws,
                                        const Stretches& text, const Vocabulary& vocabulary, std::int64_t passage);

}  // namespace stein::lm
