#include <stein/envs/table_bandit.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

/// Three rows with the number 10, 20, 30.
ContextTable contexts() {
  constexpr std::array<std::size_t, 1> only{0};
  return {Table{.columns = {{.name = "x", .numbers = {10, 20, 30}}}}, only, Scaling::as_they_are};
}

BanditSpec two_arms() {
  BanditSpec spec{.name = "tiny", .arms = 2};
  spec.data = "synthetic";
  spec.source = "made here";
  return spec;
}

TEST_CASE("a row shows its numbers and pays what belongs to its kind", "[envs][table-bandit]") {
  TableBandit bandit(two_arms(), contexts(), {.expected = {1, 2, -3, 4}, .kinds = {0, 1, 0}});
  CHECK(bandit.spec().context_size == 1);
  CHECK(bandit.spec().reward_low == -3);
  CHECK(bandit.spec().reward_high == 4);
  CHECK(bandit.spec().bounded);
  // Six equally likely rewards 1, 2, −3, 4, 1, 2: mean 7/6, mean square 35/6.
  CHECK(bandit.spec().reward_deviation.value() == Approx(std::sqrt(35.0 / 6 - 49.0 / 36)).epsilon(1e-14));
  std::array<int, 3> visits{};
  for (std::int64_t step = 0; step < 30'000; ++step) {
    const Context context = bandit.observe(4, step);
    const auto row = bandit.row();
    ++visits[static_cast<std::size_t>(row)];
    REQUIRE(context.dense[0] == static_cast<float>(10 * (row + 1)));
    const std::vector<double> expected = row == 1 ? std::vector<double>{-3, 4} : std::vector<double>{1, 2};
    REQUIRE(std::vector<double>(bandit.expected_rewards().begin(), bandit.expected_rewards().end()) == expected);
    REQUIRE(bandit.reward(0) == expected[0]);
    REQUIRE(bandit.reward(1) == expected[1]);
  }
  double chi_square = 0;
  for (const int count : visits) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  CHECK(chi_square < 32);  // two degrees of freedom: exceeded with probability exp(−16) = 1e-7
}

TEST_CASE("noise adds to the deviation of rewards, and rewards have no bounds", "[envs][table-bandit]") {
  TableBandit bandit(two_arms(), contexts(), {.expected = {0, 1, 0, 1, 0, 1}, .noise = 2});
  CHECK(bandit.spec().reward_deviation.value() == Approx(std::sqrt(.25 + 4)).epsilon(1e-14));
  CHECK_FALSE(bandit.spec().bounded);
  double sum = 0, squares = 0, product = 0;
  constexpr int steps = 50'000;
  for (std::int64_t step = 0; step < steps; ++step) {
    bandit.observe(1, step);
    const double noise = (bandit.reward(1) - 1) / 2;
    sum += noise, squares += noise * noise;
    product += noise * bandit.reward(0) / 2;  // what the other arm would have paid has noise of its own
  }
  CHECK(std::abs(product) / std::sqrt(steps) < 6.1);
  CHECK(std::abs(sum) / std::sqrt(steps) < 6.1);
  CHECK(std::abs(squares - steps) / std::sqrt(2.0 * steps) < 6.1);
}

TEST_CASE("a probe is the first row where an arm alone is best", "[envs][table-bandit]") {
  const TableBandit bandit(two_arms(), contexts(), {.expected = {5, 5, 1, 3, 0, 3}});
  const auto probes = bandit.probes();
  REQUIRE(probes.size() == 1);  // arm 0 is best once, but not alone
  CHECK(probes[0].name == "arm 1");
  CHECK(probes[0].dense == std::vector<float>{20});
  CHECK(probes[0].expected_rewards == std::vector<double>{1, 3});
}

TEST_CASE("rewards that do not fit contexts and arms are refused", "[envs][table-bandit]") {
  const auto made = [](TableBandit::Rewards rewards, std::int64_t arms = 2) {
    BanditSpec spec = two_arms();
    spec.arms = arms;
    return TableBandit(spec, contexts(), std::move(rewards));
  };
  CHECK_ERROR(made({.expected = {1, 2, 3}}, 1), usage, "'tiny' has 1 arms, expected two or more");
  CHECK_ERROR(made({.expected = {1, 2, 3}}), usage, "'tiny' has 3 expected rewards for 2 arms");
  CHECK_ERROR(made({.expected = {1, 2}}), usage, "3 rows of contexts and 1 of rewards");
  CHECK_ERROR((made({.expected = {1, 2}, .kinds = {0, 0}})), usage, "3 rows of contexts and 2 of rewards");
  CHECK_ERROR((made({.expected = {1, 2}, .kinds = {0, 1, 0}})), usage, "a row of kind 1, expected one in [0, 1)");
  CHECK_ERROR((made({.expected = {1, 2}, .kinds = {0, -1, 0}})), usage, "a row of kind -1");
}

}  // namespace
}  // namespace stein::envs
