// The kernel Stein discrepancy of samples from the density itself has a known mean square; of others it stays away from
// zero.
#include <stein/core/rng.h>
#include <stein/inference/diagnostics/kernel_stein_discrepancy.h>

#include <cmath>
#include <vector>

#include "core/error_matcher.h"
#include "inference/chain_statistics.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Discrepancy of n samples of N(mean, deviation²) in d dimensions from N(0, I).
double discrepancy(std::int64_t n, std::int64_t d, std::uint32_t repetition, double mean = 0, double deviation = 1,
                   double scale = 1) {
  std::vector<double> samples(static_cast<std::size_t>(n * d)), scores(samples.size());
  fill_normal(std::span<double>(samples), {.seed = 2}, repetition);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = mean + deviation * samples[i];
    scores[i] = -samples[i];
  }
  return kernel_stein_discrepancy({samples.data(), n, d}, {scores.data(), n, d}, scale);
}

}  // namespace

TEST_CASE("from the density itself, only a sample with itself counts on average", "[inference][diagnostics]") {
  // E k₀(x, y) = 0 for independent x and y; k₀(x, x) = ‖score‖²/c + d/c³, of mean d (1/c + 1/c³) on N(0, I).
  for (const double c : {1.0, 2.0}) {
    constexpr std::int64_t repetitions = 400, n = 40, d = 3;
    ChainAverages square(repetitions);
    for (std::int64_t i = 0; i < repetitions; ++i)
      square.add(i, std::pow(discrepancy(n, d, static_cast<std::uint32_t>(i), 0, 1, c), 2));
    square.count();
    CHECK(std::abs(square.z(d * (1 / c + 1 / (c * c * c)) / n)) < critical_value);
  }
}

TEST_CASE("the discrepancy of wrong samples does not fall with their number", "[inference][diagnostics]") {
  CHECK(discrepancy(2000, 2, 0) < 0.06);
  CHECK(discrepancy(2000, 2, 0, 0.5) > 0.3);
  CHECK(discrepancy(2000, 2, 0, 0, 0.6) > 0.3);
}

TEST_CASE("samples without scores are refused", "[inference][diagnostics]") {
  const std::vector<double> numbers(6);
  CHECK_ERROR(kernel_stein_discrepancy({numbers.data(), 3, 2}, {numbers.data(), 2, 2}), usage, "[3, 2] and [2, 2]");
}
