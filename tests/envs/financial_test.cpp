#include <stein/core/rng.h>
#include <stein/envs/financial.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/environment_variable.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein::envs {
namespace {

/// A folder with the file of prices, and a bandit that plays them.
struct Market {
  explicit Market(const std::string& text) { test::write(folder / "raw_stock_contexts", text); }
  Financial open(const Financial::Options& options = {}) const { return {options, {folder.path().string()}}; }

  test::TemporaryDirectory folder;
};

/// A line with `value` for one stock and 0 for the others.
std::string day(std::size_t stock, double value) {
  std::string line;
  for (std::size_t s = 0; s < 21; ++s) line += (s == 0 ? "" : " ") + std::to_string(s == stock ? value : 0.0);
  return line + "\n";
}

/// A day for each stock, on which it alone gains 1.
std::string one_after_the_other() {
  std::string text = "A B C and others\n";
  for (std::size_t stock = 0; stock < 21; ++stock) text += day(stock, 1);
  return text;
}

TEST_CASE("a portfolio's reward is linear in the prices, with weights of unit length", "[envs][financial]") {
  const Market market(one_after_the_other());
  Financial bandit = market.open({.noise = 0});
  CHECK(bandit.spec().arms == 8);
  CHECK(bandit.spec().context_size == 21);
  CHECK(bandit.spec().source.find("21 days") != std::string::npos);
  // Day s shows the weights of stock s: the squares of a portfolio's weights sum to 1.
  std::vector<std::vector<double>> weights(21);
  for (std::int64_t step = 0; step < 2000; ++step) {
    const Context context = bandit.observe(5, step);
    const auto stock = static_cast<std::size_t>(bandit.row());
    REQUIRE(context.dense[stock] == 1);
    weights[stock] = {bandit.expected_rewards().begin(), bandit.expected_rewards().end()};
    REQUIRE(bandit.reward(3) == weights[stock][3]);
  }
  for (std::size_t arm = 0; arm < 8; ++arm) {
    double square = 0;
    for (const auto& stock : weights) {
      REQUIRE(stock.size() == 8);  // every day turned up
      square += stock[arm] * stock[arm];
    }
    CHECK(square == Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("prices scale expected rewards, the instance changes portfolios, and noise has its deviation",
          "[envs][financial]") {
  const Market market("header\n" + day(0, 1) + day(0, 1)), rich("header\n" + day(0, 4) + day(0, 4));
  Financial small = market.open(), large = rich.open(), other = market.open({.instance = 1});
  CHECK(large.expected_rewards()[2] == Approx(4 * small.expected_rewards()[2]).epsilon(1e-12));
  CHECK(other.expected_rewards()[2] != small.expected_rewards()[2]);
  constexpr int steps = 20'000;
  double squares = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    small.observe(1, step);
    const double noise = (small.reward(2) - small.expected_rewards()[2]) / .01;
    squares += noise * noise;
  }
  CHECK(std::abs(squares - steps) / std::sqrt(2.0 * steps) < 6.1);
}

TEST_CASE("a file of prices that is absent or of another form is refused with what is wrong", "[envs][financial]") {
  CHECK_ERROR(Market("header\n1 2 3\n").open(), data, "raw_stock_contexts", "expected 21 numbers in a row, found 3");
  CHECK_ERROR(Market("header\n").open(), data, "raw_stock_contexts", "has no row");
  CHECK_ERROR(Market("header\n" + day(0, 1) + "1 x\n").open(), data, "line 3", "found 'x'");
  const test::TemporaryDirectory empty;
  const test::EnvironmentVariable data("STEIN_DATA", empty.path().string());
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", empty.path().string());
  CHECK_ERROR(Financial({}, {}), data, "stein data fetch financial", "--data or $STEIN_DATA", "'linear' needs none");
}

}  // namespace
}  // namespace stein::envs
