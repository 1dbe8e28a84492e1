#include <stein/envs/linear.h>
#include <stein/envs/logistic.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

TEST_CASE("coefficients have unit length, and exactly the asked number is not zero", "[envs][linear]") {
  const SparseLinear::Options options{{.arms = 5, .context_size = 12, .noise = 0.1, .instance = 4}, 3};
  const SparseLinear bandit(options, {});
  for (std::size_t arm = 0; arm < 5; ++arm) {
    const auto beta = bandit.coefficients().subspan(arm * 12, 12);
    double square = 0;
    int nonzero = 0;
    for (const double value : beta) square += value * value, nonzero += value != 0;
    CHECK(square == Approx(1).epsilon(1e-14));
    CHECK(nonzero == 3);
  }
}

TEST_CASE("the instance decides the coefficients, the seed of a run does not", "[envs][linear]") {
  Linear one({.instance = 1}, {}), same({.instance = 1}, {}), other({.instance = 2}, {});
  const auto values = [](const Linear& bandit) {
    return std::vector<double>(bandit.coefficients().begin(), bandit.coefficients().end());
  };
  one.observe(1, 0);
  same.observe(2, 0);
  CHECK(values(one) == values(same));
  CHECK(values(one) != values(other));
}

TEST_CASE("the expected reward is the context times the coefficients", "[envs][linear]") {
  Linear bandit({.arms = 3, .context_size = 4}, {});
  const Context context = bandit.observe(5, 9);
  for (std::size_t arm = 0; arm < 3; ++arm) {
    double score = 0;
    for (std::size_t i = 0; i < 4; ++i) score += context.dense[i] * bandit.coefficients()[arm * 4 + i];
    CHECK(bandit.expected_rewards()[arm] == Approx(score).epsilon(1e-14));
  }
}

TEST_CASE("the logistic bandit's probabilities are the logistic of the linear bandit's scores", "[envs][logistic]") {
  Linear linear({.arms = 4, .context_size = 6, .noise = 0, .instance = 3}, {});
  Logistic logistic({.arms = 4, .context_size = 6, .nonzero = 6, .scale = 2, .instance = 3}, {});
  linear.observe(5, 9);
  logistic.observe(5, 9);
  for (std::size_t arm = 0; arm < 4; ++arm) {
    const double score = linear.expected_rewards()[arm];
    CHECK(logistic.expected_rewards()[arm] == Approx(1 / (1 + std::exp(-2 * score))).epsilon(1e-14));
  }
}

TEST_CASE("more nonzero coefficients than columns are refused", "[envs][linear]") {
  CHECK_ERROR(SparseLinear({{.context_size = 2}, 3}, {}), usage, "3");
  CHECK_ERROR(Logistic({.context_size = 2, .nonzero = 3}, {}), usage, "3");
}

}  // namespace
}  // namespace stein::envs
