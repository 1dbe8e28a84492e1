// What choices are worth in contexts that no run has seen.
#include <stein/agents/bandits/bandit_evaluation.h>

#include <catch2/catch.hpp>
#include <set>

#include "agents/toy_bandit.h"

using namespace stein;

namespace {

/// Plays the arms in turn and notes what happens to it.
class Spy final : public policies::BanditPolicy {
 public:
  policies::Decision decide(const envs::Context& context, std::int64_t step, policies::Propensities) override {
    steps.insert(step);
    contexts.push_back(context.dense[0]);
    return {.action = std::ssize(contexts) % 2, .propensities = propensities_};
  }
  void observe(const envs::Context&, const policies::Outcome&) override { learned = true; }
  bool learns_from_minibatches() const override { return true; }
  void learn(const policies::InteractionBatch&) override { learned = true; }

  std::set<std::int64_t> steps;
  std::vector<double> contexts;
  bool learned = false;

 private:
  std::array<double, 2> propensities_{0.5, 0.5};
};

SilentProgress silent;

}  // namespace

TEST_CASE("choices are judged by exact expected rewards, in contexts and with draws of their own",
          "[agents][evaluation]") {
  Spy policy;
  test::ToyBandit bandit;
  const agents::ChoicesWorth worth = agents::worth_of_choices(policy, bandit, 7, 40, silent);
  REQUIRE(policy.contexts.size() == 40);
  CHECK(policy.steps.size() == 40);
  CHECK(*policy.steps.begin() >= std::int64_t{1} << 40);
  CHECK_FALSE(policy.learned);
  double regret = 0, uniform = 0, reward = 0;
  test::ToyBandit same;
  for (std::size_t i = 0; i < 40; ++i) {
    const double c = policy.contexts[i], best = std::max(c, 0.0);
    const bool plays_1 = i % 2 == 0;
    regret += best - (plays_1 ? c : 0);
    uniform += best - c / 2;
    same.observe(7, (std::int64_t{1} << 40) + static_cast<std::int64_t>(i));
    reward += same.reward(plays_1 ? 1 : 0);
  }
  CHECK(worth.regret == Approx(regret));
  CHECK(worth.uniform_regret == Approx(uniform));
  CHECK(worth.reward == Approx(reward));
  CHECK(worth.regret != Approx(worth.uniform_regret));
}

TEST_CASE("another seed gives other contexts", "[agents][evaluation]") {
  Spy first, second;
  test::ToyBandit bandit;
  static_cast<void>(agents::worth_of_choices(first, bandit, 7, 5, silent));
  static_cast<void>(agents::worth_of_choices(second, bandit, 8, 5, silent));
  CHECK(first.contexts != second.contexts);
}
