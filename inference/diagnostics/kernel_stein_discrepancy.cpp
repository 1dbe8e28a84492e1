#include <stein/core/error.h>
#include <stein/inference/diagnostics/kernel_stein_discrepancy.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {

double kernel_stein_discrepancy(MatrixView<const double> samples, MatrixView<const double> scores, double scale) {
  STEIN_CHECK(samples.rows >= 1 && samples.rows == scores.rows && samples.columns == scores.columns,
              "kernel Stein discrepancy: expected as many scores as samples, got [{}, {}] and [{}, {}]", samples.rows,
              samples.columns, scores.rows, scores.columns);
  STEIN_CHECK(scale > 0, "kernel Stein discrepancy: the scale must be > 0, got {}", scale);
  const auto d = static_cast<double>(samples.columns), n = static_cast<double>(samples.rows);
  double sum = 0;
  for (std::int64_t i = 0; i < samples.rows; ++i) {
    double row = 0;
    for (std::int64_t j = 0; j <= i; ++j) {
      // With r = x − y, q = c² + ‖r‖², k = q^(−½): ∇ₓk = −r q^(−3/2) = −∇ᵧk, tr ∇ₓ∇ᵧk = d q^(−3/2) − 3‖r‖² q^(−5/2).
      double square = 0, product = 0, along = 0;
      for (std::int64_t q = 0; q < samples.columns; ++q) {
        const double r = samples(i, q) - samples(j, q);
        square += r * r;
        product += scores(i, q) * scores(j, q);
        along += (scores(i, q) - scores(j, q)) * r;
      }
      const double q = scale * scale + square, root = 1 / std::sqrt(q), cube = root / q;
      const double pair = product * root + along * cube + d * cube - 3 * square * cube / q;
      row += i == j ? pair : 2 * pair;
    }
    sum += row;
  }
  return std::sqrt(std::max(sum, 0.0)) / n;
}

}  // namespace stein::inference
