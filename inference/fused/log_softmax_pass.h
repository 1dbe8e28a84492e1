// Log probabilities of one class a row, from the logits of all.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <span>

namespace stein::inference::fused {

/// log_probability[i] = x_{i,c} − log Σ_k e^{x_ik} with c = classes[i], for rows of logits [n, K], in SIMD on all
/// threads: the same bits at any number of threads, right to 4e-7 of the largest logit. A negative class gives 0.
void log_probabilities(MatrixView<const float> logits, std::span<const float> classes,
                       std::span<float> log_probability);

}  // namespace stein::inference::fused
