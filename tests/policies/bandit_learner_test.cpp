#include <stein/policies/bandit_learner.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec spec{.name = "shop", .arms = 3, .context_size = 1, .reward_low = 0, .reward_high = 1};

/// Always chooses the last arm.
class Last final : public BanditPolicy {
 public:
  Decision decide(const envs::Context&, std::int64_t, Propensities) override {
    return {.action = 2, .propensities = propensities_, .deterministic = true};
  }

 private:
  std::vector<double> propensities_{0, 0, 1};
};

}  // namespace

TEST_CASE("pulls are forced by those that were made, though no outcome is known yet", "[policies][learner]") {
  BanditLearner learner({.forced_pulls = 2}, spec, 0, std::make_unique<Last>());
  const std::vector<float> dense{1};
  const envs::Context context{.dense = dense};
  CHECK(learner.choose(context, Propensities::exact).action == 2);  // whoever learns nothing forces nothing
  std::vector<std::int64_t> actions;
  for (int i = 0; i < 8; ++i) {
    actions.push_back(learner.decide(context, Propensities::exact).action);
    learner.pulled(actions.back());
  }
  CHECK(actions == std::vector<std::int64_t>{0, 1, 2, 0, 1, 2, 2, 2});
  CHECK(learner.decisions() == 9);
  CHECK(learner.outcomes() == 0);
}
