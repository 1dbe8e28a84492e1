// Categorical outputs: log probabilities of one class a row from the logits of all, and their slopes.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <span>

namespace stein::inference::fused {

/// log_probability[i] = x_{i,c} − log Σ_k e^{x_ik} with c = classes[i], for rows of logits [n, K], in SIMD on all
/// threads: the same bits at any number of threads, right to 4e-7 of the largest logit. A negative class gives 0.
void log_probabilities(MatrixView<const float> logits, std::span<const float> classes,
                       std::span<float> log_probability);

/// The same of logits + bias, whose slope takes the place of the logits: scale w_i (1[k = c] − p_ik), and zeros in rows
/// without a class. Returns Σ w_i log p_{i,c}, added up in a fixed order.
/// @param logits        [n, K], overwritten
/// @param bias          [K]
/// @param row_weights   [n] or empty: 1
double score_classes(MatrixView<float> logits, std::span<const float> bias, std::span<const float> classes,
                     std::span<const float> row_weights, double scale);

/// x_ik ← share · e^{x_ik} / Σ_j e^{x_ij} for rows of logits [n, K], in SIMD on all threads: the same bits at any
/// number of threads, right to 4e-7 of the largest probability.
void to_probabilities(MatrixView<float> logits, float share = 1);

/// sums_ik ← sums_ik + share · e^{x_ik} / Σ_j e^{x_ij}; the logits are overwritten.
void add_probabilities(MatrixView<float> logits, float share, MatrixView<float> sums);

/// logits ← logits + bias, row by row.
void add_bias(MatrixView<float> logits, std::span<const float> bias);

/// sums[k] = Σ_i x_ik, in a fixed order.
void sum_columns(MatrixView<const float> x, std::span<float> sums);

}  // namespace stein::inference::fused
