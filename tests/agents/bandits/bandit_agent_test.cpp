#include <stein/agents/bandits/bandit_agent.h>

#include <catch2/catch.hpp>

#include "agents/toy_bandit.h"
#include "core/error_matcher.h"

using namespace stein;
using agents::BanditAgent;
using policies::BanditLearner;
using test::ToyBandit;
using test::ToyPolicy;

namespace {

BanditAgent make_agent(const BanditLearner::Options& options, std::int64_t breaks_at_update = -1) {
  return {options, 5, std::make_unique<ToyBandit>(), std::make_unique<ToyPolicy>(5, breaks_at_update)};
}

/// Draws arm 1 with probability ¾ and notes what it is told of the choices.
class Noting final : public policies::BanditPolicy {
 public:
  explicit Noting(std::vector<policies::Outcome>& told) : told_(told) {}
  policies::Decision decide(const envs::Context&, std::int64_t step, policies::Propensities) override {
    return {.action = step % 4 == 0 ? 0 : 1, .propensities = propensities_};
  }
  void observe(const envs::Context&, const policies::Outcome& outcome) override { told_.push_back(outcome); }

 private:
  std::vector<policies::Outcome>& told_;
  std::vector<double> propensities_{0.25, 0.75};
};

std::int64_t updates_of(BanditAgent& agent) {
  return dynamic_cast<ToyPolicy&>(agent.policy()).updates;
}

}  // namespace

TEST_CASE("regret sums expected rewards against the best arm, and against uniform play", "[agents][agent]") {
  BanditAgent agent = make_agent({.updates = 2});
  ToyBandit bandit;
  double regret = 0, uniform = 0, reward = 0;
  for (std::int64_t step = 0; step < 200; ++step) {
    const auto& now = agent.step();
    bandit.observe(5, step);
    const double value = bandit.expected_rewards()[1];  // arm 0 pays 0
    regret += std::max(value, 0.0) - (now.action == 1 ? value : 0);
    uniform += std::max(value, 0.0) - value / 2;
    reward += bandit.reward(now.action);
    REQUIRE(now.step == step);
    REQUIRE(now.row == -1);
    REQUIRE(now.reward == bandit.reward(now.action));
    REQUIRE(now.expected_rewards[1] == value);
    REQUIRE(now.regret == Approx(regret).epsilon(1e-12));
    REQUIRE(now.uniform_regret == Approx(uniform).epsilon(1e-12));
    REQUIRE(now.total_reward == Approx(reward).epsilon(1e-12));
  }
}

TEST_CASE("forced pulls take every arm in turn and say that they are certain", "[agents][agent]") {
  BanditAgent agent = make_agent({.updates = 1, .forced_pulls = 3});
  for (int step = 0; step < 6; ++step) {
    const auto& now = agent.step();
    CHECK(now.action == step % 2);
    CHECK(now.deterministic);
    CHECK(now.propensities[static_cast<std::size_t>(step % 2)] == 1);
    CHECK(now.propensities[static_cast<std::size_t>(1 - step % 2)] == 0);
  }
  CHECK(agent.learner().timing().decisions == 0);
  CHECK_FALSE(agent.step().deterministic);
  CHECK(agent.learner().timing().decisions == 1);
}

TEST_CASE("learning is spaced out, and short while data are few", "[agents][agent]") {
  SECTION("by default it happens after every interaction") {
    BanditAgent agent = make_agent({.updates = 4});
    for (int i = 0; i < 10; ++i) agent.step();
    CHECK(updates_of(agent) == 40);
  }
  SECTION("learn_every leaves interactions out") {
    BanditAgent agent = make_agent({.updates = 4, .learn_every = 3});
    for (int i = 0; i < 10; ++i) agent.step();
    CHECK(updates_of(agent) == 12);  // after interactions 3, 6, 9
  }
  SECTION("rows_per_update limits the updates by the rows in the window") {
    BanditAgent agent = make_agent({.updates = 4, .rows_per_update = 2});
    for (int i = 0; i < 10; ++i) agent.step();
    CHECK(updates_of(agent) == 1 + 1 + 1 + 2 + 2 + 3 + 3 + 4 + 4 + 4);
  }
}

TEST_CASE("a restored agent repeats the saved one bit for bit", "[agents][agent]") {
  const BanditLearner::Options options{.buffer = 20, .batch = 5, .updates = 2, .forced_pulls = 1};
  BanditAgent agent = make_agent(options);
  for (int i = 0; i < 30; ++i) agent.step();
  Snapshot snapshot;
  agent.save(snapshot);
  BanditAgent restored = make_agent(options);
  restored.restore(snapshot);
  for (int i = 30; i < 60; ++i) {
    const auto& a = agent.step();
    const auto& b = restored.step();
    REQUIRE(a.step == b.step);
    REQUIRE(a.action == b.action);
    REQUIRE(a.propensities[1] == b.propensities[1]);
    REQUIRE(a.regret == b.regret);
    REQUIRE(a.total_reward == b.total_reward);
  }
}

TEST_CASE("a policy that leaves the finite numbers is named with seed and interaction", "[agents][agent]") {
  BanditAgent agent = make_agent({.updates = 2}, 7);
  for (int i = 0; i < 3; ++i) agent.step();
  CHECK_ERROR(agent.step(), numeric, "seed 5", "interaction 3", "coordinate 'w'");
}

TEST_CASE("a decision out of the finite numbers is named with seed and interaction too", "[agents][agent]") {
  BanditAgent agent = make_agent({.updates = 1, .forced_pulls = 1});
  for (int i = 0; i < 4; ++i) agent.step();
  dynamic_cast<ToyPolicy&>(agent.policy()).lose_probability();
  CHECK_ERROR(agent.step(), numeric, "seed 5", "interaction 4", "not a number");
}

TEST_CASE("options that no agent can work with are refused by name", "[agents][agent]") {
  CHECK_ERROR(make_agent({.buffer = -1}), usage, "'buffer'", "got -1");
  CHECK_ERROR(make_agent({.batch = -1}), usage, "'batch'");
  CHECK_ERROR(make_agent({.updates = 0}), usage, "'updates'");
  CHECK_ERROR(make_agent({.learn_every = 0}), usage, "'learn_every'", "got 0");
  CHECK_ERROR(make_agent({.rows_per_update = -1}), usage, "'rows_per_update'");
  CHECK_ERROR(make_agent({.forced_pulls = -1}), usage, "'forced_pulls'");
}

TEST_CASE("a policy is told the propensity of the arm that was chosen, and importance weights are by it",
          "[agents][agent]") {
  std::vector<policies::Outcome> told;
  BanditAgent agent({.forced_pulls = 0, .importance_weights = true}, 5, std::make_unique<ToyBandit>(),
                    std::make_unique<Noting>(told));
  for (int step = 0; step < 8; ++step) {
    const double reward = agent.step().reward;
    REQUIRE(told.size() == static_cast<std::size_t>(step + 1));
    const double propensity = step % 4 == 0 ? 0.25 : 0.75;
    CHECK(told.back().action == (step % 4 == 0 ? 0 : 1));
    CHECK(told.back().reward == reward);
    CHECK(told.back().propensity == propensity);
    CHECK(told.back().weight == 1 / propensity);
  }
}
