// A control task in one slot: for looking at single steps.
#include <stein/envs/cart_pole.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/vector_environment.h>

#include <catch2/catch.hpp>
#include <map>

#include "core/error_matcher.h"

namespace stein::envs {
namespace {

std::unique_ptr<ControlEntry::Builder> builder_of(const std::string& name,
                                                  const std::map<std::string, std::string>& options = {}) {
  auto builder = controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  return builder;
}

std::vector<double> middle_action(const ControlSpec& spec) {
  std::vector<double> action;
  for (const Quantity& quantity : spec.action) action.push_back(spec.discrete() ? 1 : quantity.low / 4);
  return action;
}

}  // namespace

TEST_CASE("every task in one slot goes the way of its vector environment", "[envs][control]") {
  for (const std::string& name : controls().names()) DYNAMIC_SECTION(name) {
      const auto builder = builder_of(name);
      const auto single = builder->make_single(), slot = single_slot_of(builder->make(1));
      const ControlSpec& spec = single->spec();
      CHECK(spec.name == name);
      single->reset(3), slot->reset(3);
      const std::vector<double> action = middle_action(spec);
      bool ended = false;
      for (int t = 0; t < 10 && !ended; ++t) {
        const Transition made = single->step(action), other = slot->step(action);
        CHECK(made.reward == Approx(other.reward).epsilon(1e-4).margin(1e-4));
        CHECK(made.terminated == other.terminated);
        REQUIRE(single->state().size() == spec.state.size());
        REQUIRE(single->observation().size() == spec.observation.size());
        for (std::size_t k = 0; k < spec.state.size(); ++k)
          CHECK(single->state()[k] == Approx(slot->state()[k]).epsilon(1e-4).margin(1e-4));
        for (std::size_t k = 0; k < spec.observation.size(); ++k)
          CHECK(single->observation()[k] == Approx(slot->observation()[k]).epsilon(1e-4).margin(1e-4));
        ended = made.terminated || made.truncated;
      }
    }
}

TEST_CASE("a classic task in one slot runs in double precision", "[envs][control]") {
  const auto single = builder_of("double-pendulum", {{"reward", "rllab"}})->make_single();
  const double start[4] = {0.1, -0.2, 1.3, 0.4};
  double state[4] = {0.1, -0.2, 1.3, 0.4};
  const DoublePendulum task({.reward = DoublePendulum::Reward::rllab});
  single->set_state(start);
  const Outcome<double> outcome = task.step<double>(state, {12.5});
  CHECK(single->step(std::vector<double>{12.5}).reward == outcome.reward);
  CHECK(single->state() == std::vector<double>(state, state + 4));
}

TEST_CASE("an episode in one slot ends, and must be begun again", "[envs][control]") {
  const auto check = [](SingleEnvironment& single) {
    CHECK_ERROR(single.step(std::vector<double>{1}), usage, "CartPole-v1", "reset");
    single.set_state(std::vector<double>{2.39, 2, 0, 0});
    const Transition last = single.step(std::vector<double>{1});
    CHECK(last.terminated);
    CHECK_FALSE(last.truncated);
    CHECK(single.state()[0] == Approx(2.43));
    CHECK(single.observation()[0] == Approx(2.43));
    CHECK_ERROR(single.step(std::vector<double>{1}), usage, "the episode has ended");
    single.set_state(std::vector<double>(4));
    CHECK_FALSE(single.step(std::vector<double>{1}).truncated);
    CHECK(single.step(std::vector<double>{0}).truncated);
    CHECK_ERROR(single.step(std::vector<double>{1}), usage, "the episode has ended");
    single.reset(1);
    CHECK_ERROR(single.step(std::vector<double>{2}), usage, "a choice from 0 to 1, got 2");
    CHECK_ERROR(single.step(std::vector<double>{NAN}), numeric, "'push' of slot 0 is nan at step 0");
    CHECK_ERROR(single.step(std::vector<double>{1, 1}), usage, "CartPole-v1", "got 2");
    CHECK_ERROR(single.set_state(std::vector<double>(3)), usage, "a state of 4 numbers, got 3",
                "cart position [m], cart velocity [m/s]");
    CHECK_ERROR(single.set_state(std::vector<double>{0, NAN, 0, 0}), usage, "a finite 'cart velocity'", "nan");
  };
  const auto builder = builder_of("CartPole-v1", {{"horizon", "2"}});
  SECTION("in double") {
    check(*builder->make_single());
  }
  SECTION("a slot of a vector environment") {
    check(*single_slot_of(builder->make(1)));
  }
}

TEST_CASE("actions of one slot are clipped, mapped or refused as the options say", "[envs][control]") {
  const auto velocity_after = [](double action, const std::map<std::string, std::string>& options) {
    const auto single = builder_of("cartpole", options)->make_single();
    single->set_state(std::vector<double>(4));
    single->step(std::vector<double>{action});
    return single->state()[1];
  };
  CHECK(velocity_after(25, {}) == velocity_after(10, {}));
  CHECK(velocity_after(-0.5, {{"normalize_actions", "true"}}) == velocity_after(-5, {}));
  CHECK_ERROR(velocity_after(10.5, {{"clip_actions", "false"}}), usage, "'force' in [-10, 10]", "got 10.5");
}

TEST_CASE("every task says what its speed is measured against", "[envs][control]") {
  for (const std::string& name : controls().names()) {
    const auto builder = builder_of(name);
    const StepReference reference = builder->reference(3);
    CHECK_FALSE(reference.name.empty());
    std::vector<float> actions;
    for (int slot = 0; slot < 3; ++slot)
      for (const double number : middle_action(builder->spec())) actions.push_back(static_cast<float>(number));
    CHECK_NOTHROW(reference.step(actions));
  }
}

}  // namespace stein::envs
