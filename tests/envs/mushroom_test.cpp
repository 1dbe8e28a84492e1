#include <stein/core/data/manifest.h>
#include <stein/envs/mushroom.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/environment_variable.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "skip.h"

namespace stein::envs {
namespace {

TEST_CASE("the real mushroom bandit has the counts of the UCI table", "[envs][mushroom][data-set]") {
  if (!find_data_set("mushroom")) test::skip("no data set mushroom");
  Mushroom bandit({}, {});
  CHECK(bandit.spec().context_size == 117);
  CHECK(bandit.spec().active_columns == 22);
  CHECK(bandit.spec().data == "real");
  // Mixture over a uniform arm: 0 with ½; else +5, or −10 for half of the 3916 / 8124 poisonous ones.
  const double losing = 3916.0 / 8124 / 2, mean = (5 - 15 * losing) / 2, square = (25 + 75 * losing) / 2;
  CHECK(bandit.spec().reward_deviation.value() == Approx(std::sqrt(square - mean * mean)).epsilon(1e-14));
  // Every row turns up among 200,000 draws but for a chance of 8124 exp(−200000 / 8124) ≈ 2e-7.
  std::map<std::int64_t, double> value_of_eating;
  for (std::int64_t step = 0; step < 200'000; ++step) {
    bandit.observe(1, step);
    value_of_eating[bandit.row()] = bandit.expected_rewards()[Mushroom::eat];
  }
  CHECK(value_of_eating.size() == 8124);
  std::map<double, int> counts;
  for (const auto& [row, value] : value_of_eating) ++counts[value];
  CHECK(counts == std::map<double, int>{{-2.5, 3916}, {5.0, 4208}});
}

TEST_CASE("a poisonous mushroom costs 10 or 35 in half the cases, and passing nothing", "[envs][mushroom]") {
  for (const auto& [reward, loss] : {std::pair{Mushroom::Reward::paper, -10.0}, {Mushroom::Reward::showdown, -35.0}}) {
    SyntheticMushroom bandit({{reward}, 1000, 0}, {});
    std::map<double, int> edible, poisonous;
    for (std::int64_t step = 0; step < 20'000; ++step) {
      bandit.observe(5, step);
      CHECK(bandit.reward(Mushroom::pass) == 0);
      const bool bad = bandit.expected_rewards()[Mushroom::eat] < 0;
      CHECK(bandit.expected_rewards()[Mushroom::eat] == (bad ? (5 + loss) / 2 : 5));
      ++(bad ? poisonous : edible)[bandit.reward(Mushroom::eat)];
    }
    REQUIRE(edible.size() == 1);
    CHECK(edible.begin()->first == 5);
    REQUIRE(poisonous.size() == 2);
    const double lost = poisonous[loss], won = poisonous[5];
    CHECK(std::abs(lost - won) / std::sqrt(lost + won) < 6.1);
  }
}

TEST_CASE("rows are drawn uniformly", "[envs][mushroom]") {
  constexpr int rows = 100, steps = 100'000;
  SyntheticMushroom bandit({{}, rows, 0}, {});
  std::vector<int> counts(rows);
  for (std::int64_t step = 0; step < steps; ++step) {
    bandit.observe(2, step);
    ++counts[static_cast<std::size_t>(bandit.row())];
  }
  const double expected = double{steps} / rows;
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  // 99 degrees of freedom: the upper tail of χ² at 197.5 is 1.6e-8.
  CHECK(chi_square < 197.5);
}

TEST_CASE("the probes are an edible and a poisonous mushroom", "[envs][mushroom]") {
  const SyntheticMushroom bandit({}, {});
  const auto probes = bandit.probes();
  REQUIRE(probes.size() == 2);
  CHECK(probes[0].name == "edible");
  CHECK(probes[1].name == "poisonous");
  CHECK(probes[0].active != probes[1].active);
}

TEST_CASE("without its file the mushroom bandit says how to get it", "[envs][mushroom]") {
  const test::TemporaryDirectory empty;
  const test::EnvironmentVariable data("STEIN_DATA", empty.path().c_str());
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", empty.path().c_str());
  CHECK_ERROR(Mushroom({}, {}), data, "stein data fetch mushroom", "mushroom-synthetic");
}

}  // namespace
}  // namespace stein::envs
