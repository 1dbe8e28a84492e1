#include <stein/envs/classification_synthetic.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

/// The class of the present row.
std::size_t class_of(const BanditEnvironment& bandit) {
  const auto expected = bandit.expected_rewards();
  return static_cast<std::size_t>(std::find(expected.begin(), expected.end(), 1) - expected.begin());
}

TEST_CASE("rings have the shares that are stated", "[envs][classification-synthetic]") {
  for (const std::int64_t arms : {2, 7}) {
    const std::vector<double> shares = SyntheticClassification::shares(arms);
    CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == Approx(1).epsilon(1e-14));
    CHECK(shares[0] / shares[1] == Approx(8).epsilon(1e-14));
    // So many rows that few are drawn twice: the variance of a count is that of independent draws times 1.04.
    constexpr int steps = 40'000;
    SyntheticClassification bandit({.arms = arms, .columns = 3, .rows = 1'000'000}, {});
    std::vector<double> counts(shares.size());
    for (std::int64_t step = 0; step < steps; ++step) {
      bandit.observe(3, step);
      ++counts[class_of(bandit)];
    }
    for (std::size_t k = 0; k < shares.size(); ++k) {
      INFO("class " << k << " of " << arms);
      const double expected = steps * shares[k];
      CHECK(std::abs(counts[k] - expected) / std::sqrt(expected * (1 - shares[k])) < 6.1);
    }
  }
  // 1 / (1 + 1/8 + 1/27 + 1/64 + 1/125 + 1/216 + 1/343)
  CHECK(SyntheticClassification::shares(7)[0] == Approx(.838077).epsilon(1e-6));
}

TEST_CASE("in the plane the class is that of the radius, and no line tells classes apart",
          "[envs][classification-synthetic]") {
  constexpr int steps = 40'000;
  SyntheticClassification bandit({.arms = 3, .columns = 2, .rows = 1'000'000}, {});
  const std::vector<double> shares = SyntheticClassification::shares(3);
  double sum = 0, squares = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Context context = bandit.observe(1, step);
    const double x = context.dense[0], y = context.dense[1], uniform = 1 - std::exp(-(x * x + y * y) / 2);
    const std::size_t ring = class_of(bandit);
    const double begin = ring == 0 ? 0 : ring == 1 ? shares[0] : shares[0] + shares[1], end = begin + shares[ring];
    // Columns are standardised over a million rows, which moves the ring's edges by a few thousandths.
    REQUIRE(uniform > begin - .01);
    REQUIRE(uniform < end + .01);
    const double product = ring == 0 ? x : 0;
    sum += product, squares += product * product;
  }
  CHECK(std::abs(sum) / std::sqrt(squares) < 6.1);
}

TEST_CASE("an instance is a table of its own, the same every time", "[envs][classification-synthetic]") {
  const auto first_probe = [](const SyntheticClassification::Options& options) {
    return SyntheticClassification(options, {}).probes().front().dense;
  };
  const SyntheticClassification::Options options{.rows = 500};
  CHECK(first_probe(options) == first_probe(options));
  CHECK(first_probe(options) != first_probe({.rows = 500, .instance = 1}));
}

TEST_CASE("tables of hostile sizes are refused, and the smallest ones are played", "[envs][classification-synthetic]") {
  CHECK_ERROR((SyntheticClassification({.columns = 10'000, .rows = 10'000'000}, {})), usage,
              "rows x columns must be at most 100000000, got 10000000 x 10000");
  SyntheticClassification smallest({.arms = 2, .columns = 2, .rows = 1}, {});
  CHECK(smallest.observe(0, 5).dense[0] == 0);  // one row is the mean of all
  CHECK(smallest.reward(0) + smallest.reward(1) == 1);
  SyntheticClassification many({.arms = 1000, .columns = 2, .rows = 10}, {});
  CHECK(many.spec().arms == 1000);
  CHECK(many.spec().reward_deviation.value() == Approx(std::sqrt(999.0) / 1000).epsilon(1e-12));
}

}  // namespace
}  // namespace stein::envs
