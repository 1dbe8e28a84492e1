#include <stein/policies/kl_ucb.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "policies/coins.h"

namespace stein::policies {
namespace {

constexpr double tolerance = 1e-12;  // what the header promises

const envs::BanditSpec coins{.name = "coins", .arms = 3, .reward_high = 1, .data = "synthetic", .source = "this test"};

TEST_CASE("the upper bound of a coin is the closed form where there is one", "[policies][kl_ucb]") {
  for (const double level : {1e-300, 1e-12, 1e-6, 0.01, 0.3, 1.0, 5.0, 20.0, 1000.0}) {
    INFO("level " << level);
    // d(0, q) = −log(1 − q), and d(½, q) = −½ log(4 q (1 − q)).
    CHECK(bernoulli_upper_bound(0, level) == Approx(-std::expm1(-level)).margin(tolerance).epsilon(0));
    CHECK(bernoulli_upper_bound(0.5, level) ==
          Approx(0.5 + 0.5 * std::sqrt(-std::expm1(-2 * level))).margin(tolerance).epsilon(0));
    CHECK(bernoulli_upper_bound(1, level) == 1);
  }
  for (const double mean : {0.0, 0.2, 1.0}) CHECK(bernoulli_upper_bound(mean, 0) == mean);
  CHECK(bernoulli_upper_bound(0.2, std::numeric_limits<double>::infinity()) == 1);
}

TEST_CASE("the upper bound of a coin is where its divergence is the level", "[policies][kl_ucb]") {
  // In long double, so that the check is more exact than what it checks; the root lies between bound ± 1e-12.
  const auto divergence = [](long double p, long double q) {
    return p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
  };
  for (const double mean : {1e-9, 0.01, 0.2, 0.7, 0.99, 1 - 1e-9})
    for (const double level : {1e-6, 1e-3, 0.1, 0.5, 2.0, 30.0}) {
      const long double bound = bernoulli_upper_bound(mean, level), margin = tolerance;
      INFO("mean " << mean << ", level " << level << ", bound " << static_cast<double>(bound));
      CHECK(bound > mean);
      CHECK(bound <= 1);
      CHECK(static_cast<double>(divergence(mean, bound - margin)) < level);
      if (bound + margin < 1) CHECK(static_cast<double>(divergence(mean, bound + margin)) > level);
    }
}

TEST_CASE("the bounds of KL-UCB agree with a calculation by hand", "[policies][kl_ucb]") {
  for (const double c : {0.0, 3.0}) {
    KlUcb policy({.c = c}, coins, 1);
    for (const double reward : {0.0, 1.0, 1.0, 0.0}) policy.observe({}, {.action = 0, .reward = reward});
    for (int i = 0; i < 3; ++i) policy.observe({}, {.action = 1, .reward = 0});
    // t = 8; arm 0 has ½ of 4 pulls, arm 1 none of 3, arm 2 no pull.
    const double level = std::log(8.0) + c * std::log(std::log(8.0));
    const auto bounds = policy.bounds({});
    CHECK(bounds[0] == Approx(0.5 + 0.5 * std::sqrt(1 - std::exp(-2 * level / 4))).epsilon(1e-12));
    CHECK(bounds[1] == Approx(1 - std::exp(-level / 3)).epsilon(1e-12));
    CHECK(std::isinf(bounds[2]));
    const Decision decision = policy.decide({}, 0, Propensities::exact);
    CHECK(decision.action == 2);
    CHECK(decision.deterministic);
    const std::vector<std::int32_t> present{1, 0};
    CHECK(policy.decide({.present = present}, 0, Propensities::exact).action == (bounds[0] > bounds[1] ? 0 : 1));
  }
}

TEST_CASE("before the third interaction log log t counts as nothing", "[policies][kl_ucb]") {
  KlUcb policy({.c = 3}, coins, 1);
  policy.observe({}, {.action = 0, .reward = 0});
  // t = 2 has log log 2 < 0: the level is log 2, and 1 − e^−level = ½.
  CHECK(policy.bounds({})[0] == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("arms that were never pulled share the probability, and so do those of equal bound", "[policies][kl_ucb]") {
  KlUcb policy({}, coins, 1);
  policy.observe({}, {.action = 1, .reward = 1});
  const Decision untried = policy.decide({}, 0, Propensities::exact);
  CHECK(std::vector<double>(untried.propensities.begin(), untried.propensities.end()) ==
        std::vector<double>{0.5, 0, 0.5});
  CHECK_FALSE(untried.deterministic);
  policy.observe({}, {.action = 0, .reward = 0});
  policy.observe({}, {.action = 2, .reward = 1});
  const Decision tied = policy.decide({}, 0, Propensities::exact);
  CHECK(std::vector<double>(tied.propensities.begin(), tied.propensities.end()) == std::vector<double>{0, 0.5, 0.5});
}

TEST_CASE("an interaction of weight three is three pulls, and a reward of a half half a success",
          "[policies][kl_ucb]") {
  KlUcb once({}, coins, 1), thrice({}, coins, 1);
  once.observe({}, {.action = 0, .reward = 0.5, .weight = 3});
  for (int i = 0; i < 3; ++i) thrice.observe({}, {.action = 0, .reward = 0.5});
  CHECK(once.bounds({})[0] == thrice.bounds({})[0]);
  CHECK(once.bounds({})[0] == Approx(0.5 + 0.5 * std::sqrt(1 - std::exp(-2 * std::log(4.0) / 3))).epsilon(1e-12));
}

TEST_CASE("KL-UCB finds the best of three coins", "[policies][kl_ucb]") {
  // Chance alone has a regret of 400. Of 1000 other seeds the mean was 18.3, the sd 7.3 and the largest 47; the mean of
  // 20 is 13 standard errors below 40.
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    KlUcb policy({}, coins, seed);
    sum += test::regret_of_coins(policy, {0.3, 0.5, 0.7}, seed, 2000);
  }
  CHECK(sum / 20 < 40);
}

}  // namespace
}  // namespace stein::policies
