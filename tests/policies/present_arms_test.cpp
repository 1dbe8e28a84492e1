// Every registered policy where some arms can be chosen and arms have features: what it says of those arms alone, and
// that it goes on from where it was saved.
#include <stein/core/rng.h>
#include <stein/policies/bandit_policy.h>
#include <stein/policies/interaction_window.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "policies/arm_contexts.h"

namespace stein::policies {
namespace {

using test::ArmContexts;

/// The policy with its defaults and one setting more, but small where it has a network; none if it has no such option.
std::unique_ptr<BanditPolicy> make_with_option(const std::string& name, const envs::BanditSpec& spec,
                                               const std::string& option, const std::string& value) {
  const auto builder = bandit_policies().at(name).builder();
  OptionTable table;
  builder->describe(table);
  if (!option.empty() && !table.contains(option)) return nullptr;
  const std::map<std::string, std::string> settings{
      {"hidden", "8"}, {"particles", "5"}, {"reflectors", "2"}, {option, value}};
  for (const auto& [key, setting] : settings)
    if (table.contains(key)) table.set(key, setting);
  return builder->make(spec, 21);
}

/// Meets contexts and learns, one interaction after the other.
struct Player {
  std::unique_ptr<BanditPolicy> policy;
  InteractionWindow window;

  Player(std::unique_ptr<BanditPolicy> made, const envs::BanditSpec& spec)
      : policy(std::move(made)), window(spec, 0, 16) {}

  void learn(const envs::Context& context, std::int64_t step) {
    Draws draws({.seed = 5, .step = static_cast<std::uint64_t>(step), .stream = Stream::reward}, 0);
    const std::int64_t arm = context.arm(draws.integer(static_cast<std::uint32_t>(std::ssize(context.present))));
    const Outcome outcome{.action = arm, .reward = draws.uniform() < 0.2 + 0.1 * static_cast<double>(arm) ? 1.0 : 0.0};
    policy->observe(context, outcome);
    if (!policy->learns_from_minibatches()) return;
    window.append(context, outcome);
    policy->learn(window.draw(1, static_cast<std::uint64_t>(step)));
    if (policy->revisits_every() > 0 && step % 5 == 4) policy->revisit(window.all());
  }
};

/// All of `players` are the same: the first says its propensities, the second does not, a third does too.
void meet(const std::vector<Player*>& players, ArmContexts& contexts, const envs::BanditSpec& spec, std::int64_t first,
          std::int64_t end) {
  for (std::int64_t step = first; step < end; ++step) {
    const envs::Context& context = contexts.draw(step);
    const Decision decision = players[0]->policy->decide(context, step, Propensities::exact);
    const std::vector<double> propensities(decision.propensities.begin(), decision.propensities.end());
    REQUIRE(propensities.size() == context.present.size());
    REQUIRE(std::accumulate(propensities.begin(), propensities.end(), 0.0) == Approx(1).epsilon(1e-9));
    REQUIRE(propensities[static_cast<std::size_t>(context.place_of(decision.action, spec))] > 0);
    REQUIRE(players[1]->policy->decide(context, step, Propensities::none).action == decision.action);
    if (players.size() > 2) {
      const Decision again = players[2]->policy->decide(context, step, Propensities::exact);
      REQUIRE(again.action == decision.action);
      REQUIRE(std::ranges::equal(again.propensities, propensities));
    }
    for (Player* player : players) player->learn(context, step);
  }
}

void check_play(const std::string& name, const std::string& option = "", const std::string& value = "") {
  ArmContexts contexts(ArmContexts::Kind::dense, {.arms = 6, .features = 3, .some_present = true});
  envs::BanditSpec spec = contexts.spec();
  spec.reward_high = 1;
  const auto make = [&] { return make_with_option(name, spec, option, value); };
  if (!make()) return;
  CAPTURE(name, option, value);
  Player player(make(), spec), silent(make(), spec), restored(make(), spec);
  meet({&player, &silent}, contexts, spec, 0, 12);
  for (std::int64_t step = 100; step < 105; ++step) {  // what a policy met before it is restored is forgotten
    restored.policy->decide(contexts.draw(step), step, Propensities::exact);
    restored.learn(contexts.draw(step), step);
  }
  Snapshot policy, window;
  player.policy->save(policy), player.window.save(window);
  restored.policy->restore(policy), restored.window.restore(window);
  meet({&player, &silent, &restored}, contexts, spec, 12, 30);
}

TEST_CASE(
    "where some arms with features can be chosen, a policy's propensities are theirs, asked for or not, and it "
    "goes on from where it was saved",
    "[policies][bandit]") {
  for (const std::string& name : bandit_policies().names()) {
    check_play(name);
    check_play(name, "network", "heads");
    for (const char* form : {"disjoint", "common", "hybrid"}) check_play(name, "regression", form);
    check_play(name, "covariance", "full");
    check_play(name, "draw", "one");
  }
  check_play("epsilon-greedy", "epsilon", "0.3");
}

}  // namespace
}  // namespace stein::policies
