// Regressions made anew from a window, against the same regressions made row by row.
#include <stein/core/rng.h>
#include <stein/policies/interaction_window.h>
#include <stein/policies/lin_ts.h>
#include <stein/policies/linear_regressions.h>

#include <catch2/catch.hpp>
#include <vector>

#include "core/error_matcher.h"
#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

using test::ArmContexts;

/// The saved numbers of both agree to a relative `error`, on the scale of `largest` numbers.
void check_same_regressions(const LinearRegressions& ours, const LinearRegressions& expected, double error,
                            double largest) {
  Snapshot a, b;
  ours.save(a), expected.save(b);
  for (const char* name : {"factors", "shared", "weights"}) {
    if (!b.contains(name)) continue;
    const std::vector<double> x = a.get_vector<double>(name), y = b.get_vector<double>(name);
    REQUIRE(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(name, i);
      REQUIRE(x[i] == Approx(y[i]).epsilon(error).margin(error * largest));
    }
  }
  CHECK(a.get_vector<std::int32_t>("arms") == b.get_vector<std::int32_t>("arms"));
}

TEST_CASE("regressions made anew from a window are those of its interactions, one after the other",
          "[policies][linear]") {
  const auto form = GENERATE(RegressionForm::disjoint, RegressionForm::common, RegressionForm::hybrid);
  const auto kind = GENERATE(ArmContexts::Kind::dense, ArmContexts::Kind::one_hot, ArmContexts::Kind::none);
  const bool intercept = GENERATE(true, false), weighted = GENERATE(true, false);
  CAPTURE(static_cast<int>(form), static_cast<int>(kind), intercept, weighted);
  ArmContexts contexts(kind, {.arms = 6, .features = 3, .some_present = true});
  const LinearRegressions::Setup setup{
      .form = form, .intercept = intercept, .prior_precision = 0.7, .prior_squares = 3};
  LinearRegressions anew(contexts.spec(), setup), expected(contexts.spec(), setup);
  InteractionWindow window(contexts.spec(), 0, 1);
  Draws draws({.seed = 3, .step = 0, .stream = Stream::test}, 0);
  for (std::int64_t step = 0; step < 300; ++step) {
    const envs::Context& now = contexts.draw(step);
    const std::int64_t arm = now.arm(draws.integer(static_cast<std::uint32_t>(now.choices(contexts.spec()))));
    const auto reward = static_cast<float>(1 + draws.normal());
    const float weight = weighted ? static_cast<float>(draws.uniform(0, 3)) : 1;
    window.append(now, {.action = arm, .reward = double{reward}, .weight = double{weight}});
    expected.observe(now, arm, double{reward}, double{weight});
    anew.observe(now, arm, 5, 2);  // forgotten below
  }
  for (int i = 0; i < 2; ++i) {
    anew.make_anew(window.all());
    check_same_regressions(anew, expected, 1e-9, 10);
  }
  const envs::Context& later = contexts.draw(300);
  anew.observe(later, later.arm(0), 2), expected.observe(later, later.arm(0), 2);
  check_same_regressions(anew, expected, 1e-9, 10);
}

TEST_CASE("an arm that the window has no interaction of has the regression of the prior", "[policies][linear]") {
  const envs::BanditSpec line{.name = "line", .arms = 2, .context_size = 1};
  LinearRegressions regressions(line, {.prior_precision = 0.25, .prior_squares = 2});
  InteractionWindow window(line, 0, 1);
  const std::vector<float> x{2};
  for (std::int64_t arm : {0, 1}) regressions.observe({.dense = x}, arm, 7);
  window.append({.dense = x}, {.action = 1, .reward = 3});
  regressions.make_anew(window.all());
  CHECK(regressions.observations(0) == 0);
  CHECK(regressions.squares(0) == Approx(2).epsilon(1e-14));
  const auto predictions = regressions.predict({.dense = x});
  CHECK(predictions[0].mean == 0);
  CHECK(predictions[0].leverage == Approx(5 / 0.25).epsilon(1e-14));
  // A = [4.25 2; 2 1.25] and b = (6, 3): μ = (1.5, .75)·4/5.25, and (2, 1)·μ = 3 · 5/5.25.
  CHECK(predictions[1].mean == Approx(3 * 5 / 5.25).epsilon(1e-14));
}

TEST_CASE("where sums would lose half of the digits, rows are rotated in as they are observed", "[policies][linear]") {
  const envs::BanditSpec pair{.name = "pair", .arms = 2, .context_size = 2};
  const LinearRegressions::Setup setup{.intercept = false, .prior_precision = 1e-12};
  // Arm 0: the second column is the first but for 1e-6. Arm 1: what is left of the rewards is 1e-6 of them.
  LinearRegressions anew(pair, setup), expected(pair, setup);
  InteractionWindow window(pair, 0, 1);
  Draws draws({.seed = 5, .step = 0, .stream = Stream::test}, 0);
  for (int i = 0; i < 100; ++i) {
    const std::int64_t arm = i % 2;
    const double first = draws.normal(), noise = 1e-6 * draws.normal();
    const std::vector<float> x{static_cast<float>(first),
                               static_cast<float>(arm == 0 ? first + noise : draws.normal())};
    const float reward = arm == 0 ? static_cast<float>(draws.normal()) : static_cast<float>(x[0] + 2 * x[1] + noise);
    window.append({.dense = x}, {.action = arm, .reward = double{reward}});
    expected.observe({.dense = x}, arm, double{reward});
  }
  anew.make_anew(window.all());
  check_same_regressions(anew, expected, 0, 0);
}

TEST_CASE("LinTS told of a window decides as if it had met its interactions, in their unit too", "[policies][lints]") {
  const envs::BanditSpec line{.name = "line", .arms = 2, .context_size = 1};  // its rewards' unit is not known
  LinTs anew({.scale_rewards = true}, line, 3), expected({.scale_rewards = true}, line, 3);
  InteractionWindow window(line, 0, 1);
  const std::vector<float> x{0.5F};
  for (int i = 0; i < 40; ++i) {
    const Outcome outcome{.action = i % 2, .reward = 0.25 * i};
    window.append({.dense = x}, outcome);
    expected.observe({.dense = x}, outcome);
    anew.observe({.dense = x}, {.action = 0, .reward = 100.0 * i});
  }
  anew.revisit(window.all());
  const auto ours = anew.posterior({.dense = x}), theirs = expected.posterior({.dense = x});
  for (std::size_t arm = 0; arm < 2; ++arm) {
    CHECK(ours[arm].degrees == theirs[arm].degrees);
    CHECK(ours[arm].location == Approx(theirs[arm].location).epsilon(1e-12));
    CHECK(ours[arm].scale == Approx(theirs[arm].scale).epsilon(1e-12));
  }
}

TEST_CASE("a window of another shape is refused with what was expected", "[policies][linear]") {
  const envs::BanditSpec line{.name = "line", .arms = 2, .context_size = 1};
  LinearRegressions regressions(line, {});
  const std::vector<float> numbers{1, 2, 3};
  const std::vector<std::int32_t> actions{0, 1};
  const auto rewards = std::span(numbers).first(2);
  CHECK_ERROR(regressions.make_anew({.dense = numbers, .actions = actions, .rewards = rewards, .rows = 2}), usage,
              "2 interactions", "'line'", "expected 1 dense numbers", "got 3");
  const std::vector<std::int32_t> third{0, 2};
  CHECK_ERROR(regressions.make_anew({.dense = rewards, .actions = third, .rewards = rewards, .rows = 2}), usage, "arm",
              "2");
}

}  // namespace
}  // namespace stein::policies
