#include <stein/core/error.h>
#include <stein/core/rng.h>
#include <stein/envs/linear_scores.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace stein::envs {

LinearScores::LinearScores(std::int64_t arms, std::int64_t context_size, std::int64_t nonzero, std::uint64_t instance)
    : coefficients_(static_cast<std::size_t>(arms * context_size)),
      context_(static_cast<std::size_t>(context_size)),
      scores_(static_cast<std::size_t>(arms)) {
  STEIN_CHECK(nonzero >= 1 && nonzero <= context_size,
              "the number of nonzero coefficients must lie in [1, context_size = {}], got {}", context_size, nonzero);
  const std::size_t columns = context_.size(), chosen = static_cast<std::size_t>(nonzero);
  std::vector<std::size_t> order(columns);
  for (std::size_t arm = 0; arm < scores_.size(); ++arm) {
    Draws draws({instance, 0, Stream::environment}, static_cast<std::uint32_t>(arm));
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::span<double> beta(coefficients_.data() + arm * columns, columns);
    double square = 0;
    for (std::size_t i = 0; i < chosen; ++i) {
      std::swap(order[i], order[i + draws.integer(static_cast<std::uint32_t>(columns - i))]);
      beta[order[i]] = draws.uniform(-1, 1);
      square += beta[order[i]] * beta[order[i]];
    }
    for (double& value : beta) value /= std::sqrt(square);
  }
}

void LinearScores::observe(std::uint64_t seed, std::int64_t step) {
  Draws draws({seed, static_cast<std::uint64_t>(step), Stream::context}, 0);
  for (float& value : context_) value = static_cast<float>(draws.uniform(-std::numbers::sqrt3, std::numbers::sqrt3));
  for (std::size_t arm = 0; arm < scores_.size(); ++arm) {
    const double* beta = coefficients_.data() + arm * context_.size();
    scores_[arm] = std::inner_product(context_.begin(), context_.end(), beta, 0.0);
  }
}

double LinearScores::largest_score() const {
  double largest = 0;
  for (std::size_t arm = 0; arm < scores_.size(); ++arm) {
    double length = 0;
    for (std::size_t i = 0; i < context_.size(); ++i) length += std::abs(coefficients_[arm * context_.size() + i]);
    largest = std::max(largest, length);
  }
  return std::numbers::sqrt3 * largest;
}

}  // namespace stein::envs
