#include <stein/policies/lin_ts.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"
#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

const envs::BanditSpec two_arms{
    .name = "line", .arms = 2, .context_size = 1, .data = "synthetic", .source = "this test"};

using test::at;

TEST_CASE("the posterior of linear Thompson sampling agrees with the conjugate formulas by hand", "[policies][lints]") {
  LinTs policy({.prior_precision = 0.5, .prior_shape = 3, .prior_rate = 2, .intercept = false}, two_arms, 1);
  policy.observe(at({1}), {.action = 0, .reward = 1});
  policy.observe(at({2}), {.action = 0, .reward = 3});
  // Arm 0: A = ½ + 1 + 4 = 5.5, Σ r x = 7, μ = 14/11; a = 3 + 1 = 4;
  // b = 2 + ½ (Σ r² − 7²/5.5) = 2 + ½ (10 − 98/11) = 28/11. At x = 2: location 28/11, scale² = (7/11) · 4/5.5.
  const auto posterior = policy.posterior(at({2}));
  CHECK(posterior[0].degrees == 8);
  CHECK(posterior[0].location == Approx(28.0 / 11).epsilon(1e-14));
  CHECK(posterior[0].scale == Approx(std::sqrt(7.0 / 11 * 4 / 5.5)).epsilon(1e-14));
  // Arm 1 has its prior: 6 degrees, location 0, scale² = (2/3) · 4/½.
  CHECK(posterior[1].degrees == 6);
  CHECK(posterior[1].location == 0);
  CHECK(posterior[1].scale == Approx(std::sqrt(16.0 / 3)).epsilon(1e-14));
}

TEST_CASE("scaled rewards make the prior's rate a share of their variance, in any currency", "[policies][lints]") {
  LinTs euros({.prior_rate = 2, .intercept = false, .scale_rewards = true}, two_arms, 1);
  LinTs cents({.prior_rate = 2, .intercept = false, .scale_rewards = true}, two_arms, 1);
  CHECK(euros.posterior(at({2}))[0].scale == Approx(std::sqrt(2.0 / 6 * 4 / 0.25)).epsilon(1e-14));  // no reward yet
  for (const auto& [x, reward] : {std::pair{1.0F, 1.0}, {2.0F, 3.0}, {1.0F, 0.5}}) {
    euros.observe(at({x}), {.action = 0, .reward = reward});
    cents.observe(at({x}), {.action = 0, .reward = 100 * reward});
  }
  // A = ¼ + 6, Σ r x = 7.5, Σ r² = 10.25, rewards have the mean 1.5 and the variance 7/6.
  const double rate = 2 * 7.0 / 6 + 0.5 * (10.25 - 7.5 * 7.5 / 6.25);
  const StudentT posterior = euros.posterior(at({2}))[0], times_100 = cents.posterior(at({2}))[0];
  CHECK(posterior.degrees == 15);
  CHECK(posterior.location == Approx(2.4).epsilon(1e-14));
  CHECK(posterior.scale == Approx(std::sqrt(rate / 7.5 * 4 / 6.25)).epsilon(1e-6));
  CHECK(times_100.location == Approx(100 * posterior.location).epsilon(1e-14));
  CHECK(times_100.scale == Approx(100 * posterior.scale).epsilon(1e-6));

  Snapshot saved;
  euros.save(saved);
  LinTs restored({.prior_rate = 2, .intercept = false, .scale_rewards = true}, two_arms, 1);
  restored.restore(saved);
  CHECK(restored.posterior(at({2}))[0].scale == posterior.scale);
  CHECK(restored.posterior(at({2}))[1].scale == euros.posterior(at({2}))[1].scale);
}

TEST_CASE("a posterior made anew from a window has the unit of the window's rewards alone", "[policies][lints]") {
  const LinTs::Options options{.prior_rate = 2, .intercept = false, .scale_rewards = true};
  LinTs anew(options, two_arms, 1), expected(options, two_arms, 1);
  for (const double reward : {70.0, -50.0, 20.0}) anew.observe(at({1}), {.action = 0, .reward = reward});
  const std::vector<float> contexts{1, 2, 1}, rewards{1, 3, 0.5F};
  const std::vector<std::int32_t> actions{0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i)
    expected.observe(at({contexts[i]}), {.action = actions[i], .reward = double{rewards[i]}});
  for (int again = 0; again < 2; ++again) {
    anew.revisit({.dense = contexts, .actions = actions, .rewards = rewards, .rows = 3, .window = 3});
    const auto found = anew.posterior(at({2})), by_hand = expected.posterior(at({2}));
    for (std::size_t arm = 0; arm < 2; ++arm) {
      CHECK(found[arm].location == Approx(by_hand[arm].location).epsilon(1e-9));
      CHECK(found[arm].scale == Approx(by_hand[arm].scale).epsilon(1e-6));
    }
  }
}

TEST_CASE("a context of zeros without intercept leaves nothing to choose by", "[policies][lints]") {
  LinTs policy({.intercept = false}, two_arms, 1);
  int first = 0;
  for (std::int64_t step = 0; step < 10'000; ++step) {
    const Decision decision = policy.decide(at({0}), step, Propensities::exact);
    REQUIRE(decision.propensities[0] == 0.5);
    first += decision.action == 0;
  }
  CHECK(std::abs(first - 5000) / 50.0 < 6.1);
}

TEST_CASE("an interaction of weight three is three interactions to a posterior", "[policies][lints]") {
  LinTs once({}, two_arms, 1), thrice({}, two_arms, 1);
  once.observe(at({2}), {.action = 0, .reward = 1, .weight = 3});
  for (int i = 0; i < 3; ++i) thrice.observe(at({2}), {.action = 0, .reward = 1});
  const StudentT one = once.posterior(at({1}))[0], other = thrice.posterior(at({1}))[0];
  CHECK(one.degrees == other.degrees);
  CHECK(one.location == Approx(other.location).epsilon(1e-12));
  CHECK(one.scale == Approx(other.scale).epsilon(1e-12));
}

TEST_CASE("rewards too large for its sums are a numeric error that names the arm", "[policies][lints]") {
  LinTs policy({}, two_arms, 1);
  policy.observe(at({1}), {.action = 1, .reward = 1e300});
  CHECK_ERROR(policy.decide(at({1}), 0, Propensities::exact), numeric, "arm 1", "expected finite");
}

TEST_CASE("the samples for the report come from the posterior", "[policies][lints]") {
  LinTs policy({}, two_arms, 1);
  for (int i = 0; i < 50; ++i) policy.observe(at({1}), {.action = 0, .reward = i % 2 == 0 ? 5.0 : 3.0});
  const auto samples = policy.posterior_rewards(at({1}));
  REQUIRE(samples.size() == 100);
  double mean = 0;
  for (const auto& sample : samples) {
    REQUIRE(sample.size() == 2);
    mean += sample[0] / 100;
  }
  const StudentT posterior = policy.posterior(at({1}))[0];
  const double deviation = posterior.scale * std::sqrt(posterior.degrees / (posterior.degrees - 2));
  CHECK(std::abs(mean - posterior.location) / (deviation / 10) < 6.1);
}

}  // namespace
}  // namespace stein::policies
