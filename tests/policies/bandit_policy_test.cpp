// Every registered policy keeps the contract of policies/bandit_policy.h, on dense and on one-hot contexts.
#include <stein/core/rng.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "core/critical_value.h"
#include "core/error_matcher.h"

namespace stein::policies {
namespace {

using test::critical_value;
constexpr std::uint64_t seed = 21;

std::unique_ptr<envs::BanditEnvironment> make_bandit(const std::string& name) {
  const auto builder = envs::bandits().at(name).builder();
  OptionTable table;
  builder->describe(table);
  if (table.contains("arms")) table.set("arms", "4");
  return builder->make({});
}

/// The contexts of a bandit with rewards 0 and 1: whether its own reward is above the middle of their range.
class Clicks final : public envs::BanditEnvironment {
 public:
  explicit Clicks(std::unique_ptr<envs::BanditEnvironment> bandit)
      : bandit_(std::move(bandit)), spec_(bandit_->spec()) {
    middle_ = (spec_.reward_low + spec_.reward_high) / 2;
    spec_.reward_low = 0, spec_.reward_high = 1;
  }

  const envs::BanditSpec& spec() const override { return spec_; }
  envs::Context observe(std::uint64_t stream, std::int64_t step) override { return bandit_->observe(stream, step); }
  std::span<const double> expected_rewards() const override { return {}; }  // no test of policies asks
  double reward(std::int64_t arm) override { return bandit_->reward(arm) > middle_ ? 1 : 0; }

 private:
  std::unique_ptr<envs::BanditEnvironment> bandit_;
  envs::BanditSpec spec_;
  double middle_ = 0;
};

/// Policies for rewards in [0, 1].
const std::set<std::string> of_clicks{"beta-ts", "kl-ucb", "logistic-ts"};

/// The policy with its defaults, but small where it has a network.
std::unique_ptr<BanditPolicy> make_policy(const std::string& name, const envs::BanditSpec& spec) {
  const std::map<std::string, std::string> small{{"hidden", "8"}, {"particles", "5"}, {"reflectors", "2"}};
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const Option& option : table.options()) {
    const auto last_part = option.name.substr(option.name.rfind('.') + 1);
    if (const auto setting = small.find(last_part); setting != small.end()) option.assign(setting->second);
  }
  return builder->make(spec, seed);
}

/// What the policy has seen, and minibatches of all of it.
class History {
 public:
  /// Lets `policies`, which are the same, meet `count` interactions from `first` on, and learn from each.
  void meet(envs::BanditEnvironment& bandit, const std::vector<BanditPolicy*>& policies, std::int64_t first,
            std::int64_t count) {
    for (std::int64_t step = first; step < first + count; ++step) {
      const envs::Context context = bandit.observe(seed, step);
      const auto arm = static_cast<std::int64_t>(Draws({seed, static_cast<std::uint64_t>(step), Stream::test}, 0)
                                                     .integer(static_cast<std::uint32_t>(bandit.spec().arms)));
      const double reward = bandit.reward(arm);
      dense_.insert(dense_.end(), context.dense.begin(), context.dense.end());
      active_.insert(active_.end(), context.active.begin(), context.active.end());
      actions_.push_back(static_cast<std::int32_t>(arm));
      rewards_.push_back(static_cast<float>(reward));
      numbers_.push_back(std::ssize(numbers_));
      const auto rows = std::ssize(actions_);
      for (BanditPolicy* policy : policies) {
        policy->observe(context, {.action = arm, .reward = reward});
        const InteractionBatch all{.dense = dense_,
                                   .active = active_,
                                   .actions = actions_,
                                   .rewards = rewards_,
                                   .numbers = numbers_,
                                   .rows = rows,
                                   .window = rows};
        if (policy->learns_from_minibatches()) policy->learn(all);
        if (const std::int64_t every = policy->revisits_every(); every > 0 && rows % every == 0) policy->revisit(all);
      }
    }
  }

 private:
  std::vector<float> dense_, rewards_;
  std::vector<std::int32_t> active_, actions_;
  std::vector<std::int64_t> numbers_;
};

std::vector<double> copy(std::span<const double> values) {
  return {values.begin(), values.end()};
}

template <class Body>
void for_every_policy(const Body& body) {
  for (const std::string& name : bandit_policies().names())
    for (const std::string bandit : {"linear", "mushroom-synthetic"}) {
      DYNAMIC_SECTION(name << " on " << bandit) {
        auto environment = make_bandit(bandit);
        if (of_clicks.contains(name)) environment = std::make_unique<Clicks>(std::move(environment));
        body(name, *environment);
      }
    }
}

TEST_CASE("the default options of every policy lie in their ranges and are described", "[policies][bandit]") {
  for (const auto& [name, entry] : bandit_policies().entries()) {
    CHECK_FALSE(entry.description.empty());
    const auto builder = entry.builder();
    OptionTable table;
    builder->describe(table);
    for (const Option& option : table.options()) {
      INFO(name << ", " << option.name);
      CHECK_FALSE(option.help.empty());
      CHECK_NOTHROW(option.assign(option.text()));
    }
  }
}

TEST_CASE("policies for rewards in [0, 1] refuse other bandits by name, and rewards beyond", "[policies][bandit]") {
  for (const std::string& name : of_clicks) {
    CHECK_NOTHROW(make_policy(name, make_bandit("logistic")->spec()));
    CHECK_ERROR(make_policy(name, make_bandit("linear")->spec()), usage, name, "rewards in [0, 1]", "linear");
    CHECK_ERROR(make_policy(name, make_bandit("wheel")->spec()), usage, name, "rewards in [0, 1]", "wheel");
    const auto bandit = make_bandit("logistic");
    const auto policy = make_policy(name, bandit->spec());
    const envs::Context context = bandit->observe(seed, 0);
    CHECK_ERROR(policy->observe(context, {.action = 2, .reward = 1.5}), usage, name, "arm 2", "logistic", "1.5");
    CHECK_ERROR(policy->observe(context, {.action = 2, .reward = -0.5}), usage, name, "-0.5");
    CHECK_ERROR(policy->observe(context, {.action = 2, .reward = std::nan("")}), usage, name, "nan");
    CHECK_ERROR(policy->observe(context, {.action = 2, .reward = 1, .weight = -1}), usage, "weight", "-1");
    CHECK_ERROR(policy->observe(context, {.action = 4, .reward = 1}), usage, "logistic");
  }
}

TEST_CASE("a decision's propensities are probabilities, one-hot where it says it drew nothing", "[policies][bandit]") {
  for_every_policy([&](const std::string& name, envs::BanditEnvironment& bandit) {
    const auto policy = make_policy(name, bandit.spec());
    History history;
    for (std::int64_t step = 0; step < 40; ++step) {
      const Decision decision = policy->decide(bandit.observe(seed, step), step, Propensities::exact);
      const auto& p = decision.propensities;
      REQUIRE(std::ssize(p) == bandit.spec().arms);
      REQUIRE(decision.action >= 0);
      REQUIRE(decision.action < bandit.spec().arms);
      REQUIRE(std::accumulate(p.begin(), p.end(), 0.0) == Approx(1).epsilon(1e-12));
      REQUIRE(std::all_of(p.begin(), p.end(), [](double value) { return value >= 0 && value <= 1 + 1e-12; }));
      REQUIRE(p[static_cast<std::size_t>(decision.action)] > 0);
      if (decision.deterministic) REQUIRE(p[static_cast<std::size_t>(decision.action)] == 1);
      history.meet(bandit, {policy.get()}, step, 1);
    }
    for (const auto& [key, value] : policy->diagnostics()) {
      INFO(key);
      CHECK(std::isfinite(value));
    }
    for (const auto& sample : policy->posterior_rewards(bandit.observe(seed, 100)))
      REQUIRE(std::ssize(sample) == bandit.spec().arms);
  });
}

TEST_CASE("propensities stay as they are until the next decision, whatever is learned in between",
          "[policies][bandit]") {
  for_every_policy([&](const std::string& name, envs::BanditEnvironment& bandit) {
    const auto policy = make_policy(name, bandit.spec());
    History history;
    for (std::int64_t step = 0; step < 40; ++step) {
      const envs::Context context = bandit.observe(seed, step);
      const Decision decision = policy->decide(context, step, Propensities::exact);
      const std::vector<double> before = copy(decision.propensities);
      history.meet(bandit, {policy.get()}, step, 1);
      policy->posterior_rewards(context);
      REQUIRE(copy(decision.propensities) == before);
    }
  });
}

TEST_CASE("the same seed gives the same decisions, before and after saving and restoring", "[policies][bandit]") {
  for_every_policy([&](const std::string& name, envs::BanditEnvironment& bandit) {
    const auto policy = make_policy(name, bandit.spec()), twin = make_policy(name, bandit.spec());
    History history;
    history.meet(bandit, {policy.get(), twin.get()}, 0, 20);
    Snapshot snapshot;
    policy->save(snapshot);
    const auto restored = make_policy(name, bandit.spec());
    History earlier;  // a restored policy forgets what it did before
    earlier.meet(bandit, {restored.get()}, 500, 7);
    for (const std::int64_t step : {20, 21}) restored->decide(bandit.observe(seed, step), step, Propensities::exact);
    restored->restore(snapshot);
    for (std::int64_t step = 20; step < 40; ++step) {
      const envs::Context context = bandit.observe(seed, step);
      const Decision decision = policy->decide(context, step, Propensities::exact);
      for (BanditPolicy* other : {twin.get(), restored.get()}) {
        const Decision again = other->decide(context, step, Propensities::exact);
        REQUIRE(again.action == decision.action);
        REQUIRE(copy(again.propensities) == copy(decision.propensities));
        REQUIRE(again.deterministic == decision.deterministic);
      }
      history.meet(bandit, {policy.get(), twin.get(), restored.get()}, step, 1);
    }
    Snapshot at_end, restored_at_end;
    policy->save(at_end);
    restored->save(restored_at_end);
    CHECK(at_end.texts() == restored_at_end.texts());
    REQUIRE(at_end.arrays().size() == restored_at_end.arrays().size());
    for (const auto& [key, array] : at_end.arrays()) {
      INFO(key);
      CHECK(restored_at_end.arrays().at(key).bytes == array.bytes);
    }
  });
}

TEST_CASE("redrawn decisions have the frequencies of their propensities", "[policies][bandit]") {
  constexpr int redraws = 20'000;
  for_every_policy([&](const std::string& name, envs::BanditEnvironment& bandit) {
    const auto policy = make_policy(name, bandit.spec());
    History history;
    history.meet(bandit, {policy.get()}, 0, 10);
    for (const std::int64_t shown : {1000, 1001, 1002}) {
      std::vector<int> counts(static_cast<std::size_t>(bandit.spec().arms));
      std::vector<double> propensities;
      for (int redraw = 0; redraw < redraws; ++redraw) {
        const Decision decision = policy->decide(bandit.observe(seed, shown), 1000 + redraw, Propensities::exact);
        if (redraw == 0) propensities = copy(decision.propensities);
        REQUIRE(std::equal(propensities.begin(), propensities.end(), decision.propensities.begin()));
        ++counts[static_cast<std::size_t>(decision.action)];
      }
      for (std::size_t arm = 0; arm < counts.size(); ++arm) {
        const double p = propensities[arm], expected = redraws * p, variance = expected * (1 - p);
        INFO("arm " << arm << ": propensity " << p << ", drawn " << counts[arm] << " times of " << redraws);
        if (p == 0 || p == 1) {
          CHECK(counts[arm] == expected);
        } else {
          // A count that is nearly Poisson has a longer tail than a normal one: mean ≤ 25 exceeds 25 + 50 with
          // probability below 1e-14.
          CHECK(std::abs(counts[arm] - expected) < std::max(50.0, critical_value * std::sqrt(variance)));
        }
      }
    }
  });
}

}  // namespace
}  // namespace stein::policies
