#include <stein/policies/lin_ucb.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace stein::policies {
namespace {

const envs::BanditSpec line{.name = "line", .arms = 3, .context_size = 1, .data = "synthetic", .source = "this test"};

envs::Context at(const std::vector<float>& x) {
  return {.dense = x, .active = {}};
}

TEST_CASE("the bound of LinUCB agrees with a calculation by hand in one dimension", "[policies][linucb]") {
  LinUcb policy({.alpha = 1.5, .prior_precision = 1, .intercept = false}, line, 1);
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

TEST_CASE("arms of equal bound share the probability", "[policies][linucb]") {
  LinUcb policy({.alpha = 1, .prior_precision = 1, .intercept = false}, line, 1);
  policy.observe(at({1}), {.action = 2, .reward = -1});
  // At x = −1 arm 2 has mean ½, bound ½ + √½ = 1.207; at x = 1 it has −½ + √½ = 0.207, the others 1.
  CHECK(policy.decide(at({-1}), 0, Propensities::exact).action == 2);
  const Decision tied = policy.decide(at({1}), 0, Propensities::exact);
  CHECK(std::vector<double>(tied.propensities.begin(), tied.propensities.end()) == std::vector<double>{0.5, 0.5, 0});
  CHECK_FALSE(tied.deterministic);
}

}  // namespace
}  // namespace stein::policies
