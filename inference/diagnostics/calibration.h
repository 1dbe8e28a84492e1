// How well predicted probabilities fit what happened.
#pragma once

#include <stein/inference/storage/matrix_view.h>

#include <cstdint>
#include <span>

namespace stein::inference {

/// Expected calibration error: Σ_b (n_b/n) |accuracy_b − confidence_b| over `bins` equal bins (k/bins, (k + 1)/bins] of
/// the largest probability of each row; a probability of 1 lies in the last bin, of 0 in the first (Guo et al. 2017,
/// eq. 3).
/// @param probabilities  [n, classes], rows sum to 1
/// @param labels         [n] the class that happened
/// @throws Error(usage) unless shapes fit, labels are classes and probabilities lie in [0, 1]
double expected_calibration_error(MatrixView<const double> probabilities, std::span<const std::int64_t> labels,
                                  std::int64_t bins = 15);

/// Brier score: mean over rows of Σ_c (p_c − 1[c = label])², in [0, 2]. Throws Error(usage) as above.
double brier_score(MatrixView<const double> probabilities, std::span<const std::int64_t> labels);

/// Mean of −log p_label in nats; infinite where a probability was 0. Throws Error(usage) as above.
double negative_log_likelihood(MatrixView<const double> probabilities, std::span<const std::int64_t> labels);

/// Area under the ROC curve: the probability that a score of a positive exceeds that of a negative, ties count half.
/// For out-of-distribution detection: scores are entropies, positives the foreign inputs.
/// @throws Error(usage) unless there are both positives and negatives, all numbers
double area_under_roc(std::span<const double> positives, std::span<const double> negatives);

}  // namespace stein::inference
