// The large-p small-n regression of Deng et al. 2019, table 1: one cell, 20,000 steps.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "sparse_regression/sparse_regression.h"

using namespace sparse_regression;
using stein::inference::SlabAdaptation;

namespace {

constexpr int seeds = 8;
/// One-sided critical value of Student's t with seeds − 1 = 7 degrees of freedom at 7e-7.
constexpr double critical_t = 15;

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The mean over its standard error.
double t_statistic(const std::vector<double>& values) {
  const double centre = mean(values), n = static_cast<double>(values.size());
  double square = 0;
  for (const double value : values) square += (value - centre) * (value - centre);
  return centre / std::sqrt(square / (n - 1) / n);
}

}  // namespace

TEST_CASE("adaptive latents predict better than fixed ones where p is ten times n", "[inference][sparse][slow]") {
  // v₀ = 0.1, σ = 1. A seed draws the weights, 100 rows to learn from, 50 rows to be tested on, and the chain's noise;
  // both methods get the same. "Test MAE/MSE": predictions averaged over the second half of the chain against the
  // responses of the test rows, which have noise of variance 3. The statistic is the log of the ratio of plain SGLD's
  // error (ω = 0) to SGLD-SA's, whose mean over seeds is compared with 0 by its spread over seeds.
  std::vector<double> absolute_ratio, square_ratio, absolute, square, excess;
  for (int seed = 0; seed < seeds; ++seed) {
    Cell cell{.seed = static_cast<std::uint64_t>(seed)};
    const Outcome adaptive = run(cell);
    cell.method = SlabAdaptation::fixed;
    const Outcome fixed = run(cell);
    absolute_ratio.push_back(std::log(fixed.mean_absolute / adaptive.mean_absolute));
    square_ratio.push_back(std::log(fixed.mean_square / adaptive.mean_square));
    absolute.push_back(adaptive.mean_absolute), square.push_back(adaptive.mean_square);
    excess.push_back(adaptive.mean_square - adaptive.ideal_square);
    CHECK(fixed.mean_square > 3 * adaptive.mean_square);
    CHECK(adaptive.slab_share < 0.01);
    // Three correlated predictors may be found as two; together they have the weight 6.
    CHECK(std::abs(adaptive.first_weights[0] + adaptive.first_weights[1] + adaptive.first_weights[2] - 6) < 1.5);
  }
  INFO("SGLD-SA: MAE " << mean(absolute) << ", MSE " << mean(square) << ", of which above the noise " << mean(excess)
                       << "; published 1.54 and 4.42");
  INFO("t of the log ratio of errors: MAE " << t_statistic(absolute_ratio) << ", MSE " << t_statistic(square_ratio));
  CHECK(t_statistic(absolute_ratio) > critical_t);
  CHECK(t_statistic(square_ratio) > critical_t);
  CHECK(mean(absolute) < 2);
  CHECK(mean(square) < 6);
}
