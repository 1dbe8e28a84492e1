#include <stein/core/rng.h>
#include <stein/policies/bootstrap_counts.h>

#include <cmath>

namespace stein::policies {
namespace {

/// The Poisson(1) variable at the quantile u < 1; 20 and more, whose probability is below 1e-18, count as 20.
float poisson(double u) {
  double term = std::exp(-1.0), sum = term;
  int count = 0;
  while (u >= sum && count < 20) {
    term /= ++count;
    sum += term;
  }
  return static_cast<float>(count);
}

}  // namespace

void BootstrapCounts::apply(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  const std::int64_t n = interactions.rows;
  weights_.resize(static_cast<std::size_t>(particles_ * n));
  for (std::int64_t row = 0; row < n; ++row) {
    const auto number = static_cast<std::uint64_t>(interactions.numbers[static_cast<std::size_t>(row)]);
    Draws draws({seed_, number, Stream::perturbation}, 0);
    const float weight = batch.row_weights.empty() ? 1 : batch.row_weights[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < particles_; ++i) weights_[i * n + row] = weight * poisson(draws.uniform());
  }
  batch.row_weights = weights_;
  batch.weights_per_particle = true;
}

}  // namespace stein::policies
