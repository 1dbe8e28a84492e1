// Every registered control task keeps the contract of envs/vector_environment.h.
#include <stein/core/parallel.h>
#include <stein/envs/acrobot.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/classic_environment.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/pendulum.h>
#include <stein/envs/rllab_cart_pole.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

std::unique_ptr<VectorEnvironment> make_slots(const std::string& name, std::int64_t slots, std::int64_t first_slot = 0,
                                              const std::map<std::string, std::string>& options = {}) {
  const auto builder = controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  return builder->make(slots, first_slot);
}

/// Random actions inside the bounds, for every slot by its global number.
std::vector<float> actions_of(const VectorEnvironment& environment, std::int64_t first_slot) {
  std::vector<float> actions;
  for (std::int64_t slot = 0; slot < environment.slots(); ++slot) {
    Draws draws({.seed = 8, .step = static_cast<std::uint64_t>(environment.steps()), .stream = Stream::test},
                static_cast<std::uint32_t>(first_slot + slot));
    for (const Quantity& action : environment.spec().action)
      actions.push_back(environment.spec().discrete()
                            ? static_cast<float>(draws.integer(static_cast<std::uint32_t>(environment.spec().choices)))
                            : static_cast<float>(draws.uniform(action.low, action.high)));
  }
  return actions;
}

std::vector<float> row(std::span<const float> rows, std::int64_t slot, std::size_t width) {
  const auto part = rows.subspan(static_cast<std::size_t>(slot) * width, width);
  return {part.begin(), part.end()};
}

/// Everything that a step gives, over a thousand steps of slots that fill a block and a part of one.
template <class Task>
void check_against_loop(const std::string& name) {
  const std::int64_t slots = 300;
  const auto environment = make_slots(name, slots);
  environment->reset(4);
  ClassicSlotLoop<Task> loop(Task({}), environment->horizon(), slots, 4);
  const auto bits = [](std::span<const float> a, std::span<const float> b) { return std::ranges::equal(a, b); };
  const std::size_t width = Task::observation_size;
  for (int t = 0; t < 1000; ++t) {
    const std::vector<float> actions = actions_of(*environment, 0);
    environment->step(actions), loop.step(actions);
    REQUIRE(environment->episodes().size() == loop.episodes().size());
    for (std::size_t k = 0; k < loop.episodes().size(); ++k) {
      const Episode &found = environment->episodes()[k], &expected = loop.episodes()[k];
      REQUIRE(found.slot == expected.slot);
      REQUIRE(found.length == expected.length);
      REQUIRE(found.total_reward == expected.total_reward);
      REQUIRE(found.terminated == expected.terminated);
      REQUIRE(bits(row(environment->final_observations(), found.slot, width), loop.final_observation(found.slot)));
    }
    bool same = true;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const auto i = static_cast<std::size_t>(slot);
      const Transition& made = loop.transition(slot);
      same = same && environment->rewards()[i] == made.reward &&
             (environment->terminated()[i] == 1) == made.terminated &&
             (environment->truncated()[i] == 1) == made.truncated &&
             bits(environment->observations().subspan(i * width, width), loop.observation(slot));
    }
    REQUIRE(same);
  }
}

template <class Body>
void for_every_task(const Body& body) {
  for (const std::string& name : controls().names()) DYNAMIC_SECTION(name) {
      body(name);
    }
}

}  // namespace

TEST_CASE("every control task describes itself", "[envs][control]") {
  CHECK(controls().names().size() >= 6);
  for_every_task([](const std::string& name) {
    CHECK_FALSE(controls().at(name).description.empty());
    const auto environment = make_slots(name, 1);
    const ControlSpec& spec = environment->spec();
    CHECK(spec.name == name);
    CHECK(spec.version >= 1);
    CHECK_FALSE(spec.source.empty());
    CHECK(spec.horizon >= 1);
    CHECK(spec.step_seconds > 0);
    CHECK(spec.reward_low <= spec.reward_high);
    CHECK(!spec.action.empty());
    for (const Quantity& action : spec.action) CHECK((std::isfinite(action.low) && action.low < action.high));
    const auto builder = controls().at(name).builder();
    OptionTable table;
    builder->describe(table);
    for (const Option& option : table.options()) {
      INFO(option.name);
      CHECK_FALSE(option.help.empty());
      CHECK_NOTHROW(option.assign(option.text()));
    }
  });
  CHECK_ERROR(controls().at("CartPole-v2"), usage, "unknown environment 'CartPole-v2'", "Did you mean 'CartPole-v1'");
}

TEST_CASE("observations and rewards stay inside what the spec says, and episodes add up", "[envs][control]") {
  for_every_task([](const std::string& name) {
    const std::int64_t slots = 37;
    const auto environment = make_slots(name, slots);
    const ControlSpec& spec = environment->spec();
    const std::size_t width = spec.observation.size();
    environment->reset(3);
    std::vector<double> returns(37, 0);
    std::vector<std::int64_t> lengths(37, 0);
    std::vector<float> before(environment->observations().begin(), environment->observations().end());
    std::int64_t ended = 0;
    for (std::int64_t t = 0; t < spec.horizon + 5; ++t) {
      environment->step(actions_of(*environment, 0));
      std::size_t next = 0;
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        const auto i = static_cast<std::size_t>(slot);
        const float reward = environment->rewards()[i];
        REQUIRE(reward >= spec.reward_low - 1e-3);
        REQUIRE(reward <= spec.reward_high + 1e-3);
        returns[i] += reward;
        ++lengths[i];
        const bool terminated = environment->terminated()[i] == 1, truncated = environment->truncated()[i] == 1;
        REQUIRE_FALSE((terminated && truncated));
        for (std::size_t k = 0; k < width; ++k) {
          REQUIRE(environment->observations()[i * width + k] >= spec.observation[k].low - 1e-5);
          REQUIRE(environment->observations()[i * width + k] <= spec.observation[k].high + 1e-5);
        }
        if (!terminated && !truncated) continue;
        REQUIRE(next < environment->episodes().size());
        const Episode& episode = environment->episodes()[next++];
        CHECK(episode.slot == slot);
        CHECK(episode.length == lengths[i]);
        CHECK(episode.total_reward == Approx(returns[i]).epsilon(1e-4).margin(1e-4));
        CHECK(episode.terminated == terminated);
        CHECK(truncated == (lengths[i] == spec.horizon && !terminated));
        // The end is kept, and the slot is already elsewhere.
        CHECK(row(environment->final_observations(), slot, width) != row(environment->observations(), slot, width));
        returns[i] = 0, lengths[i] = 0;
        ++ended;
      }
      REQUIRE(next == environment->episodes().size());
    }
    CHECK(ended >= slots);
  });
}

TEST_CASE("a seed gives the same bits, other seeds and slots others", "[envs][control]") {
  for_every_task([](const std::string& name) {
    const auto first = make_slots(name, 8), second = make_slots(name, 8), other = make_slots(name, 8);
    first->reset(1), second->reset(1), other->reset(2);
    const std::size_t width = first->spec().observation.size();
    std::set<std::vector<float>> different;
    for (std::int64_t slot = 0; slot < 8; ++slot) {
      different.insert(row(first->observations(), slot, width));
      different.insert(row(other->observations(), slot, width));
    }
    CHECK(different.size() == (name == "deep-sea" ? 1 : 16));  // where episodes begin at one place
    for (int t = 0; t < 100; ++t) {
      first->step(actions_of(*first, 0)), second->step(actions_of(*second, 0));
      REQUIRE(std::ranges::equal(first->observations(), second->observations()));
      REQUIRE(std::ranges::equal(first->rewards(), second->rewards()));
    }
  });
}

TEST_CASE("what happens in a slot does not depend on the slots beside it", "[envs][control]") {
  for_every_task([](const std::string& name) {
    const auto whole = make_slots(name, 21), part = make_slots(name, 4, 15);
    whole->reset(5), part->reset(5);
    const std::size_t width = whole->spec().observation.size();
    for (int t = 0; t < 150; ++t) {
      whole->step(actions_of(*whole, 0)), part->step(actions_of(*part, 15));
      for (std::int64_t slot = 0; slot < 4; ++slot)
        REQUIRE(row(part->observations(), slot, width) == row(whole->observations(), 15 + slot, width));
    }
  });
}

TEST_CASE("saved and restored, a task goes on with the same bits", "[envs][control]") {
  for_every_task([](const std::string& name) {
    const auto environment = make_slots(name, 6), again = make_slots(name, 6);
    environment->reset(7);
    for (int t = 0; t < 60 || environment->episodes().empty(); ++t) environment->step(actions_of(*environment, 0));
    Snapshot snapshot;
    environment->save(snapshot);
    again->restore(snapshot);
    // Rewards and ends of the last step are included, an end of an episode among them.
    CHECK(again->steps() == environment->steps());
    for (const auto numbers :
         {&envs::VectorEnvironment::observations, &envs::VectorEnvironment::final_observations,
          &envs::VectorEnvironment::rewards, &envs::VectorEnvironment::terminated, &envs::VectorEnvironment::truncated})
      CHECK(std::ranges::equal(((*again).*numbers)(), ((*environment).*numbers)()));
    REQUIRE(again->episodes().size() == environment->episodes().size());
    for (std::size_t k = 0; k < again->episodes().size(); ++k) {
      CHECK(again->episodes()[k].slot == environment->episodes()[k].slot);
      CHECK(again->episodes()[k].length == environment->episodes()[k].length);
      CHECK(again->episodes()[k].total_reward == environment->episodes()[k].total_reward);
      CHECK(again->episodes()[k].terminated == environment->episodes()[k].terminated);
    }
    for (int t = 0; t < 600; ++t) {
      environment->step(actions_of(*environment, 0)), again->step(actions_of(*again, 0));
      REQUIRE(std::ranges::equal(again->observations(), environment->observations()));
      REQUIRE(std::ranges::equal(again->rewards(), environment->rewards()));
      REQUIRE(again->episodes().size() == environment->episodes().size());
      for (std::size_t k = 0; k < again->episodes().size(); ++k)
        REQUIRE(again->episodes()[k].total_reward == environment->episodes()[k].total_reward);
    }
    CHECK_ERROR(make_slots(name, 5)->restore(snapshot), data, "6 slots", "expected 5");
    CHECK_ERROR(make_slots(name == "cartpole" ? "CartPole-v1" : "cartpole", 6)->restore(snapshot), data,
                "the saved environment is " + name + " version", "expected");
  });
}

TEST_CASE("the state of a slot can be set and read", "[envs][control]") {
  const auto environment = make_slots("CartPole-v1", 3);
  environment->reset(1);
  environment->set_state(2, std::vector<double>{0.5, 0, 0.125, -1});
  CHECK(environment->state(2) == std::vector<double>{0.5, 0, 0.125, -1});
  CHECK(row(environment->observations(), 2, 4) == std::vector<float>{0.5F, 0, 0.125F, -1});
  CHECK_ERROR(environment->set_state(3, std::vector<double>(4)), usage, "a slot from 0 to 2, got 3");
  CHECK_ERROR(environment->set_state(0, std::vector<double>(3)), usage, "a state of 4 numbers, got 3");
}

TEST_CASE("a step has the bits of the reference, which takes one slot after the other", "[envs][control][parity]") {
  SECTION("Acrobot") {
    check_against_loop<Acrobot>("Acrobot-v1");
  }
  SECTION("CartPole") {
    check_against_loop<CartPole>("CartPole-v1");
  }
  SECTION("CartPoleSwingUp") {
    check_against_loop<CartPoleSwingUp>("cartpole-swingup");
  }
  SECTION("DoublePendulum") {
    check_against_loop<DoublePendulum>("double-pendulum");
  }
  SECTION("Pendulum") {
    check_against_loop<Pendulum>("Pendulum-v1");
  }
  SECTION("RllabCartPole") {
    check_against_loop<RllabCartPole>("cartpole");
  }
}

TEST_CASE("the loop that a task outside the tree gets has the bits of the fused one", "[envs][control][parity]") {
  const auto fused = make_slots("CartPole-v1", 519);
  ClassicEnvironment<CartPole> expected({}, {}, reference::step_slots<CartPole>, 519, 0);
  fused->reset(4), expected.reset(4);
  for (int t = 0; t < 100; ++t) {
    const std::vector<float> actions = actions_of(*fused, 0);
    fused->step(actions), expected.step(actions);
    REQUIRE(std::ranges::equal(fused->observations(), expected.observations()));
  }
}

TEST_CASE("any number of threads gives the same bits and the same order of episodes", "[envs][control][threads]") {
  const int before = thread_count();
  const std::int64_t slots = 9001;  // more than two shares
  const auto steps = [&](int threads) {
    set_thread_count(threads);
    const auto environment = make_slots("CartPole-v1", slots);
    environment->reset(3);
    std::vector<float> seen;
    std::vector<std::int64_t> ended;
    std::vector<float> actions(static_cast<std::size_t>(slots));
    for (int t = 0; t < 60; ++t) {
      for (std::size_t i = 0; i < actions.size(); ++i) actions[i] = (i * 7 + static_cast<std::size_t>(t) * 3) % 5 < 3;
      environment->step(actions);
      seen.insert(seen.end(), environment->observations().begin(), environment->observations().end());
      for (const Episode& episode : environment->episodes()) {
        ended.push_back(t * slots + episode.slot);
        ended.push_back(episode.length);
      }
    }
    return std::pair(seen, ended);
  };
  const auto one = steps(1);
  CHECK(one.second.size() > 20'000);
  CHECK(steps(2) == one);
  CHECK(steps(5) == one);
  set_thread_count(before);
}

TEST_CASE("without the automatic reset a slot stays where its episode ended", "[envs][control]") {
  const auto environment = make_slots("CartPole-v1", 2);
  environment->set_auto_reset(false);
  environment->reset(1);
  environment->set_state(1, std::vector<double>{2.39, 2, 0, 0});
  environment->step(std::vector<float>{0, 1});
  REQUIRE(environment->episodes().size() == 1);
  CHECK(environment->terminated()[1] == 1);
  CHECK(environment->state(1)[0] == Approx(2.43));
  CHECK(row(environment->observations(), 1, 4) == row(environment->final_observations(), 1, 4));
}

TEST_CASE("actions are clipped, mapped or refused as the options say", "[envs][control]") {
  // One step from rest: the force shows in the velocity.
  const auto velocity_after = [](float action, const std::map<std::string, std::string>& options) {
    const auto environment = make_slots("cartpole", 1, 0, options);
    environment->reset(1);
    environment->set_state(0, std::vector<double>(4));
    environment->step(std::vector<float>{action});
    return environment->observations()[1];
  };
  const float full = velocity_after(10, {});
  CHECK(velocity_after(25, {}) == full);
  CHECK(velocity_after(1, {{"normalize_actions", "true"}}) == full);
  CHECK(velocity_after(7, {{"normalize_actions", "true"}}) == full);
  CHECK(velocity_after(-0.5F, {{"normalize_actions", "true"}}) == velocity_after(-5, {}));
  CHECK_ERROR(velocity_after(10.5F, {{"clip_actions", "false"}}), usage, "cartpole", "'force' in [-10, 10]", "got 10.5",
              "slot 0 at step 0");
  CHECK_ERROR(velocity_after(1.5F, {{"clip_actions", "false"}, {"normalize_actions", "true"}}), usage, "in [-1, 1]");
  CHECK_ERROR(velocity_after(NAN, {}), numeric, "cartpole", "the action 'force' of slot 0 is nan at step 0");
  CHECK_ERROR(make_slots("CartPole-v1", 1, 0, {{"normalize_actions", "true"}}), usage, "'normalize_actions'",
              "choices");
}

TEST_CASE("a task that is data goes on from where another form of its slots is, with the same bits",
          "[envs][control]") {
  for_every_task([](const std::string& name) {
    if (!controls().at(name).builder()->analytic()) return;
    const auto environment = make_slots(name, 300, 40), again = make_slots(name, 300, 40);
    environment->reset(7), again->reset(1);
    for (int t = 0; t < 30; ++t) environment->step(actions_of(*environment, 40));
    again->step(actions_of(*again, 40));
    again->set_progress(environment->progress());
    CHECK(again->steps() == 30);
    CHECK(again->episodes().empty());
    for (int t = 0; t < 600; ++t) {
      REQUIRE(std::ranges::equal(again->observations(), environment->observations()));
      environment->step(actions_of(*environment, 40)), again->step(actions_of(*again, 40));
      REQUIRE(std::ranges::equal(again->rewards(), environment->rewards()));
      REQUIRE(again->episodes().size() == environment->episodes().size());
      for (std::size_t k = 0; k < again->episodes().size(); ++k) {
        REQUIRE(again->episodes()[k].total_reward == environment->episodes()[k].total_reward);
        REQUIRE(again->episodes()[k].length == environment->episodes()[k].length);
      }
    }
    CHECK_ERROR(make_slots(name, 2)->set_progress(environment->progress()), usage, "the progress of 2 slots",
                "300 lengths");
  });
}

TEST_CASE("episodes that count as older are truncated so much earlier, once", "[envs][control]") {
  const auto environment = make_slots("Pendulum-v1", 3);
  environment->reset(7);
  const std::vector<float> ages{0, 150, 199}, few{0, 1}, beyond{0, 1, 200}, negative{0, 1, -1};
  environment->set_lengths(ages);
  std::vector<std::vector<std::int64_t>> ends(3);
  for (int t = 0; t < 420; ++t) {
    environment->step(actions_of(*environment, 40));
    for (const Episode& episode : environment->episodes()) {
      CHECK_FALSE(episode.terminated);
      ends[static_cast<std::size_t>(episode.slot)].push_back(t);
    }
  }
  CHECK(ends == std::vector<std::vector<std::int64_t>>{{199, 399}, {49, 249}, {0, 200, 400}});
  for (const auto& wrong : {few, beyond, negative})
    CHECK_ERROR(environment->set_lengths(wrong), usage, "the lengths of 3 episodes, each from 0 to 199 steps");
}

TEST_CASE("what makes no sense is refused", "[envs][control]") {
  const auto environment = make_slots("CartPole-v1", 2);
  CHECK_ERROR(environment->step(std::vector<float>{0, 1}), usage, "`reset` before the first step");
  environment->reset(1);
  CHECK_ERROR(environment->step(std::vector<float>{0}), usage, "expected 2 x 1 actions, got 1");
  CHECK_ERROR(environment->step(std::vector<float>{0, 2}), usage, "a choice from 0 to 1, got 2 in slot 1");
  CHECK_ERROR(environment->step(std::vector<float>{0.5F, 1}), usage, "a choice from 0 to 1, got 0.5 in slot 0");
  environment->set_state(1, std::vector<double>{0, INFINITY, 0, 0});
  CHECK_ERROR(environment->step(std::vector<float>{0, 1}), numeric, "CartPole-v1",
              "the observation 'cart position' of slot 1", "after step 0");
  CHECK_ERROR(make_slots("CartPole-v1", 0), usage, "1 to 10000000 slots, got 0");
  // A reward that overflows while the observation does not: θ² of the pendulum, whose observation is cos and sin.
  const auto pendulum = make_slots("Pendulum-v1", 3);
  pendulum->reset(1);
  pendulum->set_state(2, std::vector<double>{0, 1e30});
  CHECK_ERROR(pendulum->step(std::vector<float>{0, 0, 0}), numeric, "Pendulum-v1", "the reward of slot 2 is -inf",
              "after step 0");
  CHECK_ERROR(make_slots("CartPole-v1", 1, 0, {{"horizon", "-1"}}), usage, "'horizon'");
  CHECK_ERROR(make_slots("CartPole-v1", 1, 0, {{"horizon", "0"}}), usage, "'horizon'", "0");
  ControlSpec endless = controls().at("CartPole-v1").builder()->spec();
  endless.horizon = 0;
  CHECK_ERROR(ControlOptions().of(endless), usage, "CartPole-v1", "a horizon of at least 1 step");
  CHECK(ControlOptions().of(make_slots("CartPole-v1", 1)->spec()).horizon == 500);
}

TEST_CASE("the horizon is an option", "[envs][control]") {
  const auto environment = make_slots("Pendulum-v1", 2, 0, {{"horizon", "3"}});
  environment->reset(1);
  for (int t = 1; t <= 6; ++t) {
    environment->step(std::vector<float>{0, 0});
    CHECK(environment->truncated()[1] == (t % 3 == 0 ? 1 : 0));
  }
}

}  // namespace stein::envs
