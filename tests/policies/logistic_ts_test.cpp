#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/logistic_ts.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/critical_value.h"
#include "core/error_matcher.h"
#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

using test::critical_value;

const envs::BanditSpec line{
    .name = "line", .arms = 2, .context_size = 1, .reward_high = 1, .data = "synthetic", .source = "this test"};

using test::at;

double chance_of_success(double log_odds) {
  return 1 / (1 + std::exp(-log_odds));
}

/// Algorithm 3 of Chapelle & Li 2011 for one interaction at a time, with all of the precision or its diagonal: Newton's
/// method on all coefficients, with steps halved until they lead downhill.
struct PrintedLogistic {
  bool full;
  Eigen::VectorXd mean;
  Eigen::MatrixXd precision;

  PrintedLogistic(bool whole, Eigen::Index size, double prior)
      : full(whole), mean(Eigen::VectorXd::Zero(size)), precision(prior * Eigen::MatrixXd::Identity(size, size)) {}

  void observe(const Eigen::VectorXd& w, double reward, double weight) {
    Eigen::VectorXd gamma = mean;
    for (int iteration = 0; iteration < 60; ++iteration) {
      const double p = chance_of_success(w.dot(gamma));
      const Eigen::VectorXd gradient = precision * (gamma - mean) - weight * (reward - p) * w;
      const Eigen::MatrixXd hessian = precision + weight * p * (1 - p) * w * w.transpose();
      Eigen::VectorXd step = hessian.ldlt().solve(gradient);
      const double here = objective(gamma, w, reward, weight) + 1e-9;  // a fall below that is lost in rounding
      for (int halving = 0; halving < 40 && objective(gamma - step, w, reward, weight) > here; ++halving) step /= 2;
      gamma -= step;
    }
    mean = gamma;
    const double p = chance_of_success(w.dot(mean));
    const Eigen::MatrixXd added = weight * p * (1 - p) * w * w.transpose();
    if (full)
      precision += added;
    else
      precision.diagonal() += added.diagonal();
  }
  double objective(const Eigen::VectorXd& gamma, const Eigen::VectorXd& w, double reward, double weight) const {
    const double sign = reward == 1 ? 1 : -1, prior = (gamma - mean).dot(precision * (gamma - mean)) / 2;
    return prior + weight * std::log1p(std::exp(-sign * w.dot(gamma)));
  }
  double location(const Eigen::VectorXd& w) const { return w.dot(mean); }
  double scale(const Eigen::VectorXd& w) const { return std::sqrt(w.dot(precision.ldlt().solve(w))); }
};

TEST_CASE("the mode of log odds after a reward is where the gradient is zero", "[policies][logistic_ts]") {
  for (const double location : {-50.0, -3.0, 0.0, 0.7, 40.0})
    for (const double variance : {0.0, 1e-6, 0.5, 20.0, 1e5})
      for (const double weight : {0.0, 1.0, 300.0})
        for (const bool success : {true, false}) {
          const double mode = logistic_mode(location, variance, weight, success);
          const double pull = success ? chance_of_success(-mode) : -chance_of_success(mode);
          INFO("location " << location << ", variance " << variance << ", weight " << weight << ", success "
                           << success);
          CHECK(std::abs(mode - location - variance * weight * pull) <=
                1e-12 * (1 + std::abs(location) + std::abs(mode) + variance * weight * std::abs(pull)));
        }
  // By hand: η = 1 · (1 − σ(η)) has the root 0.401058137542 (σ = 0.598941862458).
  CHECK(logistic_mode(0, 1, 1, true) == Approx(0.401058137542).epsilon(1e-11));
  CHECK(logistic_mode(0, 1, 1, false) == Approx(-0.401058137542).epsilon(1e-11));
}

TEST_CASE("the posterior of one arm after one click agrees with a calculation by hand", "[policies][logistic_ts]") {
  for (const Covariance covariance : {Covariance::diagonal, Covariance::full}) {
    LogisticTs policy({.intercept = false, .covariance = covariance}, line, 1);
    policy.observe(at({1}), {.action = 0, .reward = 1});
    // Mode 0.4010581 as above, precision 1 + 0.5989419 · 0.4010581 = 1.2402105. At x = 2 twice the mode and the sd.
    const auto posterior = policy.posterior(at({2}));
    CHECK(posterior[0].location == Approx(2 * 0.401058137542).epsilon(1e-11));
    CHECK(posterior[0].scale == Approx(2 / std::sqrt(1 + 0.598941862458 * 0.401058137542)).epsilon(1e-11));
    CHECK(std::isinf(posterior[0].degrees));
    CHECK(posterior[1].location == 0);
    CHECK(posterior[1].scale == Approx(2).epsilon(1e-14));
    // Normal variables: P(0) = Φ(difference of means / √(sum of variances)).
    const Decision decision = policy.decide(at({2}), 0, Propensities::exact);
    const double difference = 2 * 0.401058137542, variance = 4 + 4 / (1 + 0.598941862458 * 0.401058137542);
    CHECK(decision.propensities[0] ==
          Approx(0.5 * std::erfc(-difference / std::sqrt(2 * variance))).margin(1e-8).epsilon(0));
  }
}

TEST_CASE("mode and precision are those of Newton's method on all coefficients", "[policies][logistic_ts]") {
  const bool full = GENERATE(true, false), one_hot = GENERATE(true, false);
  const RegressionForm form = GENERATE(RegressionForm::disjoint, RegressionForm::common, RegressionForm::hybrid);
  constexpr Eigen::Index arms = 5, features = 3;
  test::ArmContexts contexts(one_hot ? test::ArmContexts::Kind::one_hot : test::ArmContexts::Kind::dense,
                             {.arms = arms, .features = features, .some_present = true});
  const Eigen::Index d = contexts.spec().context_size + 1;
  const Eigen::Index own = form == RegressionForm::common ? 0 : d,
                     shared = form == RegressionForm::disjoint ? 0 : features * d;
  LogisticTs policy(
      {.prior_precision = 0.5, .covariance = full ? Covariance::full : Covariance::diagonal, .regression = form},
      contexts.spec(), 1);
  PrintedLogistic printed(full, arms * own + shared, 0.5);
  const auto row = [&](const envs::Context& context, std::size_t place) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(d), w = Eigen::VectorXd::Zero(arms * own + shared);
    for (std::size_t i = 0; i < context.dense.size(); ++i) x[static_cast<Eigen::Index>(i)] = context.dense[i];
    for (const std::int32_t column : context.active) x[column] = 1;
    x[d - 1] = 1;
    if (own > 0) w.segment(context.present[place] * own, own) = x;
    for (Eigen::Index i = 0; i < shared; ++i)
      w[arms * own + i] =
          x[i / features] * context.arm_features[features * place + static_cast<std::size_t>(i % features)];
    return w;
  };
  Draws draws({.seed = 8, .step = 0, .stream = Stream::test}, 0);
  for (std::int64_t step = 0; step < 80; ++step) {
    const envs::Context& now = contexts.draw(step);
    const auto posterior = policy.posterior(now);
    INFO((full ? "full, " : "diagonal, ")
         << (one_hot ? "one-hot" : "dense") << ", form " << static_cast<int>(form) << ", step " << step);
    for (std::size_t place = 0; place < posterior.size(); ++place) {
      REQUIRE(posterior[place].location == Approx(printed.location(row(now, place))).margin(1e-9).epsilon(1e-9));
      REQUIRE(posterior[place].scale == Approx(printed.scale(row(now, place))).epsilon(1e-9));
    }
    const std::size_t chosen = draws.integer(static_cast<std::uint32_t>(posterior.size()));
    const double reward = draws.uniform() < 0.4 ? 1 : 0, weight = step % 3 == 0 ? 2.5 : 1;
    policy.observe(now, {.action = now.present[chosen], .reward = reward, .weight = weight});
    printed.observe(row(now, chosen), reward, weight);
  }
}

TEST_CASE("without correlated columns the diagonal is all of the precision, with them it is not",
          "[policies][logistic_ts]") {
  const envs::BanditSpec plane{.name = "plane", .arms = 2, .context_size = 2, .reward_high = 1};
  LogisticTs full({.intercept = false, .covariance = Covariance::full}, plane, 1);
  LogisticTs diagonal({.intercept = false, .covariance = Covariance::diagonal}, plane, 1);
  for (int i = 0; i < 20; ++i)
    for (LogisticTs* policy : {&full, &diagonal})
      policy->observe(at(i % 2 == 0 ? std::vector<float>{1, 0} : std::vector<float>{0, 1}),
                      {.action = 0, .reward = i % 3 == 0 ? 1.0 : 0.0});
  const auto scale = [](LogisticTs& policy) { return policy.posterior(at({1, -1}))[0].scale; };
  CHECK(scale(full) == Approx(scale(diagonal)).epsilon(1e-12));
  for (int i = 0; i < 20; ++i)
    for (LogisticTs* policy : {&full, &diagonal})
      policy->observe(at({1, 1}), {.action = 0, .reward = i % 2 == 0 ? 1.0 : 0.0});
  // (1, 1) says nothing of the difference of the two coefficients, and the diagonal does not know.
  CHECK(scale(full) > 1.2 * scale(diagonal));
}

TEST_CASE("certain log odds move on a surprise and stay finite", "[policies][logistic_ts]") {
  for (const Covariance covariance : {Covariance::diagonal, Covariance::full}) {
    LogisticTs policy({.prior_precision = 1e-4, .intercept = false, .covariance = covariance}, line, 1);
    for (int i = 0; i < 5; ++i) policy.observe(at({1000}), {.action = 0, .reward = 1});
    const double before = policy.posterior(at({1000}))[0].location;
    CHECK(before > 10);
    policy.observe(at({1000}), {.action = 0, .reward = 0});
    CHECK(policy.posterior(at({1000}))[0].location < before);
    policy.observe(at({0}), {.action = 0, .reward = 0});  // a row of zeros moves nothing
    policy.observe(at({1}), {.action = 0, .reward = 1, .weight = 0});
    CHECK(std::isfinite(policy.posterior(at({1}))[0].location));
    CHECK_NOTHROW(policy.decide(at({1}), 0, Propensities::exact));
  }
}

TEST_CASE("a context of zeros without intercept leaves nothing to choose log odds by", "[policies][logistic_ts]") {
  LogisticTs policy({.intercept = false}, line, 1);
  policy.observe(at({1}), {.action = 0, .reward = 1});
  int first = 0;
  for (std::int64_t step = 0; step < 10'000; ++step) {
    const Decision decision = policy.decide(at({0}), step, Propensities::exact);
    REQUIRE(decision.propensities[0] == Approx(0.5).margin(1e-11).epsilon(0));
    first += decision.action == 0;
  }
  CHECK(std::abs(first - 5000) / 50.0 < critical_value);
}

TEST_CASE("logistic Thompson sampling refuses rewards that are no clicks and regressions without features",
          "[policies][logistic_ts]") {
  LogisticTs policy({}, line, 1);
  CHECK_ERROR(policy.observe(at({1}), {.action = 1, .reward = 0.5}), usage, "rewards 0 and 1", "arm 1", "line", "0.5");
  CHECK_ERROR(policy.observe(at({1, 2}), {.action = 1, .reward = 1}), usage, "line");
  for (const Covariance covariance : {Covariance::diagonal, Covariance::full})
    CHECK_ERROR(LogisticTs({.covariance = covariance, .regression = RegressionForm::common}, line, 1), usage,
                "regression=common", "line");
}

TEST_CASE("the samples of clicks for the report come from the posterior", "[policies][logistic_ts]") {
  LogisticTs policy({}, line, 1);
  for (int i = 0; i < 200; ++i) policy.observe(at({1}), {.action = 0, .reward = i % 4 == 0 ? 0.0 : 1.0});
  const auto samples = policy.posterior_rewards(at({1}));
  REQUIRE(samples.size() == 100);
  double mean = 0;
  for (const auto& sample : samples) mean += std::log(sample[0] / (1 - sample[0])) / 100;
  const StudentT posterior = policy.posterior(at({1}))[0];
  CHECK(std::abs(mean - posterior.location) / (posterior.scale / 10) < critical_value);
}

/// Sum of regrets in `steps` interactions with `logistic`, divided by that of uniformly drawn arms on the same
/// contexts.
double regret_ratio(BanditPolicy& policy, envs::BanditEnvironment& bandit, std::uint64_t seed, std::int64_t steps) {
  double regret = 0, uniform = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const envs::Context context = bandit.observe(seed, step);
    const std::int64_t arm = policy.decide(context, step, Propensities::none).action;
    policy.observe(context, {.action = arm, .reward = bandit.reward(arm)});
    const auto expected = bandit.expected_rewards();
    double best = 0, sum = 0;
    for (const double value : expected) best = std::max(best, value), sum += value;
    regret += best - expected[static_cast<std::size_t>(arm)];
    uniform += best - sum / static_cast<double>(expected.size());
  }
  return regret / uniform;
}

TEST_CASE("logistic Thompson sampling has less than a quarter of chance's regret", "[policies][logistic_ts]") {
  // Chance alone has a ratio of 1. Of 100 other seeds the mean was 0.185 (diagonal) or 0.177 (full) and the sd 0.011;
  // the mean of five exceeds 0.22 by 7 of its standard errors, a false alarm of 1e-12 if ratios were normal.
  for (const Covariance covariance : {Covariance::diagonal, Covariance::full}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto bandit = envs::bandits().at("logistic").builder()->make({});
      LogisticTs policy({.covariance = covariance}, bandit->spec(), seed);
      sum += regret_ratio(policy, *bandit, seed, 2000) / 5;
    }
    CHECK(sum < 0.22);
  }
}

}  // namespace
}  // namespace stein::policies
