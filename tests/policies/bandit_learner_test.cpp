#include <stein/policies/bandit_learner.h>

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

using namespace stein;
using namespace stein::policies;

namespace {

const envs::BanditSpec shop{.name = "shop", .arms = 3, .context_size = 1, .reward_low = 0, .reward_high = 1};

/// Always chooses the last arm.
class Last final : public BanditPolicy {
 public:
  Decision decide(const envs::Context&, std::int64_t, Propensities) override {
    return {.action = 2, .propensities = propensities_, .deterministic = true};
  }

 private:
  std::vector<double> propensities_{0, 0, 1};
};

/// Notes what it is told and the minibatches that it learns from.
class Noting final : public BanditPolicy {
 public:
  explicit Noting(std::vector<double>& told, std::vector<float>& learned) : told_(told), learned_(learned) {}
  Decision decide(const envs::Context&, std::int64_t, Propensities) override { return {.action = 0}; }
  void observe(const envs::Context&, const Outcome& outcome) override { told_.push_back(outcome.weight); }
  bool learns_from_minibatches() const override { return true; }
  void learn(const InteractionBatch& batch) override { learned_.assign(batch.weights.begin(), batch.weights.end()); }

 private:
  std::vector<double>& told_;
  std::vector<float>& learned_;
};

}  // namespace

TEST_CASE("an interaction weighs what it stands for, and 1 / propensity up to a bound where that is asked for",
          "[policies][learner]") {
  const std::vector<float> dense{1};
  const envs::Context context{.dense = dense};
  for (const bool importance : {false, true}) {
    CAPTURE(importance);
    std::vector<double> told;
    std::vector<float> learned;
    BanditLearner learner(
        {.buffer = 1, .batch = 4, .updates = 1, .importance_weights = importance, .largest_weight = 9}, shop, 0,
        std::make_unique<Noting>(told, learned));
    const auto learned_from = [&](const Outcome& outcome) {
      learner.learn(context, outcome);
      return learned;
    };
    CHECK(learned_from({.action = 1, .propensity = 0.25}) == std::vector<float>(importance ? 4 : 0, 4.0F));
    CHECK(learned_from({.action = 1, .propensity = 0.5, .weight = 3}) == std::vector<float>(4, importance ? 6.0F : 3));
    CHECK(learned_from({.action = 1, .propensity = 0.01}) == std::vector<float>(4, importance ? 9.0F : 1));
    CHECK(told == (importance ? std::vector<double>{4, 6, 9} : std::vector<double>{1, 3, 1}));
  }
}

TEST_CASE("a policy learns after so many outcomes, however many decisions were made", "[policies][learner]") {
  std::vector<double> told;
  std::vector<float> learned;
  BanditLearner learner({.buffer = 10, .batch = 4, .updates = 1, .learn_every = 3, .forced_pulls = 0}, shop, 0,
                        std::make_unique<Noting>(told, learned));
  const std::vector<float> dense{1};
  const envs::Context context{.dense = dense};
  std::vector<std::int64_t> learned_after;
  for (int i = 1; i <= 9; ++i) {
    for (int k = 0; k < i; ++k) learner.decide(context, Propensities::none);
    learner.learn(context, {.action = 1, .weight = 2});
    if (!learned.empty()) learned_after.push_back(learner.outcomes());
    learned.clear();
  }
  CHECK(learned_after == std::vector<std::int64_t>{3, 6, 9});
}

TEST_CASE("pulls are forced by those that were made, though no outcome is known yet", "[policies][learner]") {
  BanditLearner learner({.forced_pulls = 2}, shop, 0, std::make_unique<Last>());
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
  CHECK(learner.forced() == 6);
  CHECK(learner.outcomes() == 0);
}

TEST_CASE("updates are limited by the rows that the window holds, not by all that came", "[policies][learner]") {
  const std::vector<float> dense{1};
  const envs::Context context{.dense = dense};
  std::vector<double> told;
  std::vector<float> learned;
  BanditLearner learner({.buffer = 6, .batch = 4, .updates = 9, .rows_per_update = 2, .forced_pulls = 0}, shop, 0,
                        std::make_unique<Noting>(told, learned));
  std::vector<std::int64_t> updates;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t before = learner.timing().updates;
    learner.learn(context, {.action = 1});
    updates.push_back(learner.timing().updates - before);
  }
  CHECK(updates == std::vector<std::int64_t>{1, 1, 1, 2, 2, 3, 3, 3, 3, 3});
}

TEST_CASE("a restored learner learns after as many outcomes as the saved one, with the same minibatches",
          "[policies][learner]") {
  const std::vector<float> dense{1};
  const envs::Context context{.dense = dense};
  std::vector<double> told[2];
  std::vector<float> learned[2];
  const BanditLearner::Options options{.buffer = 10, .batch = 4, .updates = 1, .learn_every = 3, .forced_pulls = 0};
  BanditLearner first(options, shop, 0, std::make_unique<Noting>(told[0], learned[0])),
      second(options, shop, 0, std::make_unique<Noting>(told[1], learned[1]));
  for (int i = 0; i < 7; ++i) first.learn(context, {.action = 1, .weight = 2.0 + i});
  for (int i = 0; i < 2; ++i) second.learn(context, {.action = 1, .weight = 9});
  Snapshot state;
  first.save(state);
  second.restore(state);
  for (int i = 7; i < 16; ++i) {
    learned[0].clear(), learned[1].clear();
    for (BanditLearner* learner : {&first, &second}) learner->learn(context, {.action = 1, .weight = 2.0 + i});
    CAPTURE(i);
    CHECK(learned[0].empty() == (i % 3 != 2));
    CHECK(learned[0] == learned[1]);
    CHECK(first.outcomes() == second.outcomes());
  }
}
