#include <stein/core/rng.h>
#include <stein/policies/lin_ucb.h>

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "core/error_matcher.h"
#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

const envs::BanditSpec three_arms{
    .name = "line", .arms = 3, .context_size = 1, .data = "synthetic", .source = "this test"};

using test::at;

TEST_CASE("the bound of LinUCB agrees with a calculation by hand in one dimension", "[policies][linucb]") {
  LinUcb policy({.alpha = 1.5, .prior_precision = 1, .intercept = false}, three_arms, 1);
  policy.observe(at({1}), {.action = 0, .reward = 1});
  policy.observe(at({2}), {.action = 0, .reward = 3});
  // Arm 0: A = 1 + 1² + 2² = 6, b = 1·1 + 2·3 = 7. At x = 2: 2·7/6 + 1.5 √(4/6) = 3.5580782. Others: 1.5 √4 = 3.
  const auto bounds = policy.bounds(at({2}));
  CHECK(bounds[0] == Approx(14.0 / 6 + 1.5 * std::sqrt(4.0 / 6)).epsilon(1e-14));
  CHECK(bounds[1] == Approx(3).epsilon(1e-14));
  CHECK(bounds[2] == Approx(3).epsilon(1e-14));
  const Decision decision = policy.decide(at({2}), 0, Propensities::exact);
  CHECK(decision.action == 0);
  CHECK(decision.deterministic);
}

TEST_CASE("scaled rewards make the bound's width a multiple of their sd, in any currency", "[policies][linucb]") {
  LinUcb euros({.alpha = 1.5, .prior_precision = 1, .intercept = false, .scale_rewards = true}, three_arms, 1);
  LinUcb cents({.alpha = 1.5, .prior_precision = 1, .intercept = false, .scale_rewards = true}, three_arms, 1);
  for (const auto& [x, reward] : {std::pair{1.0F, 1.0}, {2.0F, 3.0}}) {
    euros.observe(at({x}), {.action = 0, .reward = reward});
    cents.observe(at({x}), {.action = 0, .reward = 100 * reward});
  }
  // As above; the rewards 1 and 3 have the sd 1 of their mean, and one arm that was never pulled has the same unit.
  CHECK(euros.bounds(at({2}))[0] == Approx(14.0 / 6 + 1.5 * std::sqrt(4.0 / 6)).epsilon(1e-6));
  for (const std::size_t arm : {0U, 1U})
    CHECK(cents.bounds(at({2}))[arm] == Approx(100 * euros.bounds(at({2}))[arm]).epsilon(1e-6));
  euros.observe(at({1}), {.action = 1, .reward = 8});  // of 1, 3 and 8 the sd is √(26/3)
  CHECK(euros.bounds(at({2}))[2] == Approx(1.5 * std::sqrt(26.0 / 3) * 2).epsilon(1e-6));

  Snapshot saved;
  euros.save(saved);
  LinUcb restored({.alpha = 1.5, .prior_precision = 1, .intercept = false, .scale_rewards = true}, three_arms, 1);
  restored.restore(saved);
  CHECK(restored.bounds(at({2}))[2] == euros.bounds(at({2}))[2]);
}

TEST_CASE("arms of equal bound share the probability", "[policies][linucb]") {
  LinUcb policy({.alpha = 1, .prior_precision = 1, .intercept = false}, three_arms, 1);
  policy.observe(at({1}), {.action = 2, .reward = -1});
  // At x = −1 arm 2 has mean ½, bound ½ + √½ = 1.207; at x = 1 it has −½ + √½ = 0.207, the others 1.
  CHECK(policy.decide(at({-1}), 0, Propensities::exact).action == 2);
  const Decision tied = policy.decide(at({1}), 0, Propensities::exact);
  CHECK(std::vector<double>(tied.propensities.begin(), tied.propensities.end()) == std::vector<double>{0.5, 0.5, 0});
  CHECK_FALSE(tied.deterministic);
}

/// Algorithm 2 of Li et al. 2010 as it is printed; without shared features (k = 0) it is algorithm 1.
struct Printed {
  Eigen::MatrixXd shared_precision;
  Eigen::VectorXd shared_moment;
  std::vector<Eigen::MatrixXd> precision, coupling;
  std::vector<Eigen::VectorXd> moment;

  Printed(std::size_t arms, Eigen::Index d, Eigen::Index k)
      : shared_precision(Eigen::MatrixXd::Identity(k, k)),
        shared_moment(Eigen::VectorXd::Zero(k)),
        precision(arms, Eigen::MatrixXd::Identity(d, d)),
        coupling(arms, Eigen::MatrixXd::Zero(d, k)),
        moment(arms, Eigen::VectorXd::Zero(d)) {}

  double bound(std::size_t arm, const Eigen::VectorXd& x, const Eigen::VectorXd& z, double alpha) const {
    const Eigen::MatrixXd A = precision[arm].inverse(), A0 = shared_precision.inverse();
    const Eigen::MatrixXd& B = coupling[arm];
    const Eigen::VectorXd beta = A0 * shared_moment, theta = A * (moment[arm] - B * beta), Ax = A * x;
    const double s =
        z.dot(A0 * z) - 2 * z.dot(A0 * B.transpose() * Ax) + x.dot(Ax) + Ax.dot(B * A0 * B.transpose() * Ax);
    return z.dot(beta) + x.dot(theta) + alpha * std::sqrt(s);
  }
  void observe(std::size_t arm, const Eigen::VectorXd& x, const Eigen::VectorXd& z, double reward) {
    add_coupling(arm, 1);
    precision[arm] += x * x.transpose();
    coupling[arm] += x * z.transpose();
    moment[arm] += reward * x;
    shared_precision += z * z.transpose();
    shared_moment += reward * z;
    add_coupling(arm, -1);
  }
  void add_coupling(std::size_t arm, double sign) {
    const Eigen::MatrixXd along = coupling[arm].transpose() * precision[arm].inverse();
    shared_precision += sign * along * coupling[arm];
    shared_moment += sign * along * moment[arm];
  }
};

TEST_CASE("the bounds of LinUCB are those of the paper's algorithms 1 and 2", "[policies][linucb]") {
  const bool hybrid = GENERATE(true, false);
  test::ArmContexts contexts(test::ArmContexts::Kind::dense, {.arms = 5, .features = 3, .some_present = true});
  const Eigen::Index d = contexts.spec().context_size, k = hybrid ? 3 * d : 0;
  LinUcb policy({.alpha = 0.8,
                 .prior_precision = 1,
                 .intercept = false,
                 .regression = hybrid ? RegressionForm::hybrid : RegressionForm::disjoint},
                contexts.spec(), 1);
  Printed printed(5, d, k);
  Draws draws({.seed = 8, .step = 0, .stream = Stream::test}, 0);
  for (std::int64_t step = 0; step < 200; ++step) {
    const envs::Context& now = contexts.draw(step);
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXf>(now.dense.data(), d).cast<double>();
    const auto shared = [&](std::size_t place) {
      Eigen::VectorXd z(k);
      for (Eigen::Index i = 0; i < k; ++i)
        z[i] = x[i / 3] * now.arm_features[3 * place + static_cast<std::size_t>(i % 3)];
      return z;
    };
    const auto bounds = policy.bounds(now);
    for (std::size_t place = 0; place < bounds.size(); ++place)
      REQUIRE(bounds[place] ==
              Approx(printed.bound(static_cast<std::size_t>(now.present[place]), x, shared(place), 0.8)).epsilon(1e-9));
    const std::size_t chosen = draws.integer(static_cast<std::uint32_t>(bounds.size()));
    const double reward = draws.normal();
    policy.observe(now, {.action = now.present[chosen], .reward = reward});
    printed.observe(static_cast<std::size_t>(now.present[chosen]), x, shared(chosen), reward);
  }
}

TEST_CASE("what is chosen does not depend on whether propensities are asked for", "[policies][linucb]") {
  LinUcb asked({.intercept = false}, three_arms, 1), not_asked({.intercept = false}, three_arms, 1);
  for (std::int64_t step = 0; step < 200; ++step) {
    const std::vector<float> x{step % 2 == 0 ? 1.0F : -1.0F};
    const Decision one = asked.decide(at(x), step, Propensities::exact),
                   other = not_asked.decide(at(x), step, Propensities::none);
    REQUIRE(one.action == other.action);
    REQUIRE(one.deterministic == other.deterministic);
    REQUIRE(other.propensities.empty());
    for (LinUcb* policy : {&asked, &not_asked})
      policy->observe(at(x), {.action = one.action, .reward = static_cast<double>(step % 3)});
  }
}

TEST_CASE("an interaction of weight three is three interactions", "[policies][linucb]") {
  LinUcb once({}, three_arms, 1), thrice({}, three_arms, 1);
  once.observe(at({2}), {.action = 0, .reward = 1, .weight = 3});
  for (int i = 0; i < 3; ++i) thrice.observe(at({2}), {.action = 0, .reward = 1});
  CHECK(once.bounds(at({1}))[0] == Approx(thrice.bounds(at({1}))[0]).epsilon(1e-12));
}

TEST_CASE("rewards too large for a bound are a numeric error that names the arm", "[policies][linucb]") {
  LinUcb policy({}, three_arms, 1);
  policy.observe(at({1}), {.action = 1, .reward = 1e308});
  CHECK_ERROR(policy.decide(at({1e10F}), 0, Propensities::none), numeric, "arm 1", "finite");
}

}  // namespace
}  // namespace stein::policies
