#include <stein/core/data/manifest.h>
#include <stein/envs/jester.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "core/environment_variable.h"
#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"
#include "skip.h"

namespace stein::envs {
namespace {

TEST_CASE("the real Jester bandit has the users, jokes and ratings of its file", "[envs][jester][data-set]") {
  if (!find_data_set("jester")) test::skip("no data set jester");
  Jester bandit({}, {});
  const BanditSpec& spec = bandit.spec();
  CHECK(spec.arms == 8);
  CHECK(spec.context_size == 32);
  CHECK(spec.arm_names == std::vector<std::string>{"joke 54", "joke 56", "joke 61", "joke 62", "joke 65", "joke 66",
                                                   "joke 68", "joke 69"});
  CHECK(spec.bounded);
  // Of the 8 × 19,181 ratings, computed from the file by another program.
  CHECK(spec.reward_low == -9.95);
  CHECK(spec.reward_high == 9.42);
  CHECK(spec.reward_deviation.value() == Approx(4.728735079141943).epsilon(1e-12));
  // All rows turn up among 600,000 draws but for a chance of 19181 exp(−600000 / 19181) ≈ 5e-10.
  std::map<std::int64_t, double> best;
  for (std::int64_t step = 0; step < 600'000; ++step) {
    const Context context = bandit.observe(1, step);
    best[bandit.row()] = std::ranges::max(bandit.expected_rewards());
    if (bandit.row() != 0) continue;
    REQUIRE(context.dense[0] == -7.52f);
    REQUIRE(bandit.reward(0) == 8.3);
    REQUIRE(bandit.reward(7) == 5.68);
  }
  REQUIRE(best.size() == 19'181);
  double sum = 0;
  for (const auto& [row, rating] : best) sum += rating;
  CHECK(sum / 19'181 == Approx(6.623522756894866).epsilon(1e-12));
}

TEST_CASE("made-up ratings lie between -10 and 10 and have no noise", "[envs][jester]") {
  SyntheticJester bandit({{}, 2000, 0}, {});
  for (std::int64_t step = 0; step < 2000; ++step) {
    const Context context = bandit.observe(9, step);
    for (const float rating : context.dense) REQUIRE(std::abs(rating) <= 10);
    for (std::int64_t arm = 0; arm < Jester::arms; ++arm)
      REQUIRE(bandit.reward(arm) == bandit.expected_rewards()[static_cast<std::size_t>(arm)]);
  }
  CHECK(SyntheticJester({{}, 50, 1}, {}).probes()[0].dense != SyntheticJester({{}, 50, 2}, {}).probes()[0].dense);
}

TEST_CASE("a person's liking of a made-up joke has the deviation that is stated", "[envs][jester]") {
  // atanh(rating / 10) − m = l·z + ξ/2 has variance |l|² + ¼ over persons; over jokes and instances m + l·z + ξ/2 has
  // mean 0 and variance ¼ + 4 · ¼ + ¼ = 1.5, and one person of each instance makes independent draws.
  constexpr int instances = 3000;
  double sum = 0, squares = 0;
  for (int instance = 0; instance < instances; ++instance) {
    SyntheticJester bandit({{}, 1, instance}, {});
    bandit.observe(0, 0);
    const double liking = std::atanh(std::clamp(bandit.reward(3) / 10, -1 + 1e-12, 1 - 1e-12));
    sum += liking, squares += liking * liking;
  }
  CHECK(std::abs(sum) / std::sqrt(1.5 * instances) < 6.1);
  // Given z, l·z is N(0, |z|² / 4), so E (l·z)⁴ = 3 E |z|⁴ / 16 = 3 · 24 / 16 = 4.5. With the Gaussian rest of variance
  // ½ the fourth moment is 3/4 + 6 · ½ + 4.5 = 8.25, and liking² has the variance 8.25 − 1.5² = 6.
  CHECK(std::abs(squares / instances - 1.5) / std::sqrt(6.0 / instances) < 6.1);
}

TEST_CASE("standardised ratings have mean 0 and deviation 1, and rewards stay", "[envs][jester]") {
  constexpr int rows = 50;
  SyntheticJester plain({{}, rows, 0}, {}), scaled({{.standardize = true}, rows, 0}, {});
  std::map<std::int64_t, float> seen;
  for (std::int64_t step = 0; step < 3000; ++step) {
    plain.observe(2, step);
    const float value = scaled.observe(2, step).dense[5];
    REQUIRE(plain.row() == scaled.row());
    REQUIRE(plain.reward(1) == scaled.reward(1));
    seen[scaled.row()] = value;
  }
  REQUIRE(seen.size() == rows);  // but for a chance of 50 exp(−60)
  double sum = 0, squares = 0;
  for (const auto& [row, value] : seen) sum += value, squares += double{value} * value;
  CHECK(sum / rows == Approx(0).margin(1e-6));
  CHECK(squares / rows == Approx(1).epsilon(1e-6));
}

TEST_CASE("without its file, or with another, the Jester bandit says what to do", "[envs][jester]") {
  const test::TemporaryDirectory folder;
  const test::EnvironmentVariable data("STEIN_DATA", folder.path().string());
  const test::EnvironmentVariable cache("XDG_CACHE_HOME", folder.path().string());
  CHECK_ERROR(Jester({}, {}), data, "stein data fetch jester", "--data or $STEIN_DATA", "jester-synthetic");
  test::write(folder / "jester_19181x40.csv", "5,7\n1,2\n");
  CHECK_ERROR(Jester({}, {}), data, "jester_19181x40.csv", "bytes, found 8");
}

}  // namespace
}  // namespace stein::envs
