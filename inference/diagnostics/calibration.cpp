#include <stein/core/error.h>
#include <stein/inference/diagnostics/calibration.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace stein::inference {
namespace {

void check(MatrixView<const double> probabilities, std::span<const std::int64_t> labels) {
  STEIN_CHECK(probabilities.rows >= 1 && probabilities.columns >= 1, "calibration: expected at least one prediction");
  STEIN_CHECK(probabilities.rows == static_cast<std::int64_t>(labels.size()),
              "calibration: expected a label for each of {} predictions, got {}", probabilities.rows, labels.size());
  for (std::int64_t i = 0; i < probabilities.rows; ++i) {
    STEIN_CHECK(labels[i] >= 0 && labels[i] < probabilities.columns,
                "calibration: label {} of row {} is none of {} classes", labels[i], i, probabilities.columns);
    for (const double p : probabilities.row(i))
      STEIN_CHECK(p >= 0 && p <= 1, "calibration: probability {} in row {} does not lie in [0, 1]", p, i);
  }
}

}  // namespace

double expected_calibration_error(MatrixView<const double> probabilities, std::span<const std::int64_t> labels,
                                  std::int64_t bins) {
  check(probabilities, labels);
  STEIN_CHECK(bins >= 1, "calibration: expected at least one bin, got {}", bins);
  std::vector<double> excess(static_cast<std::size_t>(bins));  // Σ confidence − right answers
  for (std::int64_t i = 0; i < probabilities.rows; ++i) {
    const auto row = probabilities.row(i);
    const auto best = std::ranges::max_element(row);
    const double position = std::ceil(*best * static_cast<double>(bins)) - 1;
    const auto bin = static_cast<std::size_t>(std::clamp(position, 0.0, static_cast<double>(bins - 1)));
    excess[bin] += *best - (best - row.begin() == labels[i] ? 1 : 0);
  }
  double sum = 0;
  for (const double value : excess) sum += std::abs(value);
  return sum / static_cast<double>(probabilities.rows);
}

double brier_score(MatrixView<const double> probabilities, std::span<const std::int64_t> labels) {
  check(probabilities, labels);
  double sum = 0;
  for (std::int64_t i = 0; i < probabilities.rows; ++i)
    for (std::int64_t c = 0; c < probabilities.columns; ++c)
      sum += std::pow(probabilities(i, c) - (c == labels[i] ? 1 : 0), 2);
  return sum / static_cast<double>(probabilities.rows);
}

double negative_log_likelihood(MatrixView<const double> probabilities, std::span<const std::int64_t> labels) {
  check(probabilities, labels);
  double sum = 0;
  for (std::int64_t i = 0; i < probabilities.rows; ++i) sum -= std::log(probabilities(i, labels[i]));
  return sum / static_cast<double>(probabilities.rows);
}

double area_under_roc(std::span<const double> positives, std::span<const double> negatives) {
  STEIN_CHECK(!positives.empty() && !negatives.empty(), "ROC: expected positives and negatives, got {} and {}",
              positives.size(), negatives.size());
  const auto number = [](double x) { return !std::isnan(x); };
  STEIN_CHECK(std::ranges::all_of(positives, number) && std::ranges::all_of(negatives, number),
              "ROC: a score is not a number");
  std::vector<double> sorted(negatives.begin(), negatives.end());
  std::ranges::sort(sorted);
  double wins = 0;
  for (const double score : positives) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), score);
    wins += static_cast<double>(first - sorted.begin()) + static_cast<double>(last - first) / 2;
  }
  return wins / static_cast<double>(positives.size()) / static_cast<double>(sorted.size());
}

}  // namespace stein::inference
