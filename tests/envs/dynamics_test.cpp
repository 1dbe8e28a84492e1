// One step of every classic task against other programs and independent equations (reference/control_vectors.json), and
// the energy of pendulums that nobody drives.
#include <stein/core/read_file.h>
#include <stein/envs/acrobot.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/deep_sea.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/pendulum.h>
#include <stein/envs/rllab_cart_pole.h>
#include <stein/envs/sparse_cart_pole_swing_up.h>

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "envs/energy.h"

namespace stein::envs {
namespace {

nlohmann::json vectors(const std::string& name) {
  static const auto all =
      nlohmann::json::parse(read_file(std::string(STEIN_TESTS) + "/envs/reference/control_vectors.json"));
  return all.at(name);
}

/// Angles that a task wraps may come out a turn apart.
double apart(double found, double expected, bool angle) {
  const double difference = found - expected;
  return std::abs(angle ? wrapped(difference) : difference);
}

template <class Real, class Task>
void check_vectors(const Task& task, const std::string& name, double tolerance) {
  int terminal = 0;
  for (const auto& reference : vectors(name)) {
    Real state[Task::state_size], action[Task::action_size], seen[Task::observation_size];
    for (int k = 0; k < Task::state_size; ++k) state[k] = static_cast<Real>(reference["state"][k].get<double>());
    for (int k = 0; k < Task::action_size; ++k) action[k] = static_cast<Real>(reference["action"][k].get<double>());
    const Outcome<Real> outcome = task.step(state, action);
    task.observe(state, seen);
    INFO(name << " " << reference.dump());
    for (int k = 0; k < Task::state_size; ++k) {
      const double expected = reference["next"][k];
      const bool angle = std::is_same_v<Task, Acrobot> && k < 2;
      CHECK(apart(state[k], expected, angle) <= tolerance * std::max(1.0, std::abs(expected)));
    }
    for (int k = 0; k < Task::observation_size; ++k) {  // Gymnasium gives its observations as floats
      const double expected = reference["observation"][k];
      CHECK(std::abs(seen[k] - expected) <= std::max(tolerance, 2e-7) * std::max(1.0, std::abs(expected)));
    }
    const double reward = reference["reward"];
    CHECK(std::abs(outcome.reward - reward) <= tolerance * std::max(1.0, std::abs(reward)));
    CHECK((outcome.terminated == 1) == reference["terminated"].get<bool>());
    terminal += outcome.terminated == 1;
  }
  if (!(task.spec().name == "Pendulum-v1" || task.spec().name == "double-pendulum")) CHECK(terminal > 0);
}

template <class Task>
void check_task(const Task& task, const std::string& name) {
  check_vectors<double>(task, name, 1e-12);
  check_vectors<float>(task, name, 2e-5);
}

}  // namespace

TEST_CASE("a step of every classic task is that of the reference, in double and in float", "[envs][control]") {
  check_task(CartPole({}), "CartPole-v1");
  check_task(Pendulum({}), "Pendulum-v1");
  check_task(Acrobot({}), "Acrobot-v1");
  check_task(RllabCartPole({}), "cartpole");
  check_task(CartPoleSwingUp({}), "cartpole-swingup");
  check_task(DoublePendulum({}), "double-pendulum");
  check_task(DoublePendulum({.reward = DoublePendulum::Reward::rllab}), "double-pendulum reward=rllab");
}

TEST_CASE("the treasure of the deep sea lies at the end of right in every row, and nowhere else", "[envs][control]") {
  const std::int64_t size = 6;
  const DeepSea task({.size = size, .move_cost = 0.3});
  for (unsigned path = 0; path < 1U << size; ++path) {
    double state[2] = {0, 0}, sum = 0;
    std::int64_t column = 0, right = 0;
    for (std::int64_t row = 0; row < size; ++row) {
      const bool to_the_right = (path >> row & 1U) != 0;
      const double action[1] = {to_the_right ? 1.0 : 0.0};
      const Outcome<double> outcome = task.step(state, action);
      column = std::clamp<std::int64_t>(column + (to_the_right ? 1 : -1), 0, size - 1);
      right += to_the_right;
      sum += outcome.reward;
      REQUIRE(state[0] == static_cast<double>(row + 1));
      REQUIRE(state[1] == static_cast<double>(column));
      REQUIRE(outcome.terminated == (row + 1 == size ? 1 : 0));
    }
    REQUIRE(sum == Approx((right == size ? 1 : 0) - 0.05 * static_cast<double>(right)).margin(1e-12));
  }
  double state[2] = {3, 2}, seen[2];
  task.observe(state, seen);
  CHECK(seen[0] == 0.5);
  CHECK(seen[1] == Approx(1.0 / 3));
}

TEST_CASE(
    "the sparse swing-up takes Euler steps of CartPole's equations, and pays only where the pole is up, slow and "
    "in the middle",
    "[envs][control]") {
  const SparseCartPoleSwingUp task({.height = 0.5, .move_cost = 0.1});
  // Barto, Sutton & Anderson 1983, written out: forces −10, 0 and 10 N, an explicit step of 0.01 s.
  for (const double action : {0.0, 1.0, 2.0}) {
    const double x = 0.4, v = -0.7, angle = 2.5, turn = 1.3, force = 10 * (action - 1);
    const double sine = std::sin(angle), cosine = std::cos(angle), push = (force + 0.05 * turn * turn * sine) / 1.1;
    const double angular = (9.8 * sine - cosine * push) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    const double linear = push - 0.05 * angular * cosine / 1.1;
    double state[4] = {x, v, angle, turn}, given[1] = {action}, seen[5];
    const Outcome<double> outcome = task.step(state, given);
    CHECK(state[0] == Approx(x + 0.01 * v));
    CHECK(state[1] == Approx(v + 0.01 * linear));
    CHECK(state[2] == Approx(angle + 0.01 * turn));
    CHECK(state[3] == Approx(turn + 0.01 * angular));
    CHECK(outcome.reward == Approx(action == 1 ? 0 : -0.1).margin(1e-15));
    task.observe(state, seen);
    CHECK(seen[0] == Approx(state[0] / 3));
    CHECK(seen[1] == Approx(state[1] / 3));
    CHECK(seen[2] == Approx(std::sin(state[2])));
    CHECK(seen[3] == Approx(std::cos(state[2])));
    CHECK(seen[4] == state[3]);
  }
  const auto still = [&](std::array<double, 4> start) {
    double state[4] = {start[0], start[1], start[2], start[3]}, stay[1] = {1};
    return task.step(state, stay);
  };
  CHECK(still({0, 0, 0, 0}).reward == 1);
  CHECK(still({0, 0, 1.0, 0}).reward == 1);   // cos 1.0 = 0.54
  CHECK(still({0, 0, 1.1, 0}).reward == 0);   // cos 1.1 = 0.45
  CHECK(still({0, 0, 0, 1.1}).reward == 0);   // turns too fast
  CHECK(still({0, 0, 0, -1.1}).reward == 0);  // and the other way
  CHECK(still({1.01, 0, 0, 0}).reward == 0);  // too far out
  CHECK(still({-1.01, 0, 0, 0}).reward == 0);
  CHECK(still({2.99, 0, 3, 0}).terminated == 0);
  CHECK(still({-2.99, -2, 3, 0}).terminated == 1);
}

TEST_CASE("undriven pendulums keep their energy to the first order of the step", "[envs][control]") {
  // Over an episode of 500 steps and ten.
  const double action[1] = {0};
  const DoublePendulum task({});
  double state[4] = {0.3, 0, 0.5, 0};
  const auto energy = [&] { return test::double_pendulum_energy(state); };
  const double start = energy();
  double worst = 0, worst_of_ten = 0;
  for (int t = 0; t < 5000; ++t) {
    task.step(state, action);
    worst_of_ten = std::max(worst_of_ten, std::abs(energy() - start));
    if (t < 500) worst = worst_of_ten;
  }
  CAPTURE(start, worst, worst_of_ten);
  CHECK(worst < 0.05);  // of 0.64 J above rest; forces that depend on speeds make it drift slowly
  CHECK(worst_of_ten < 0.1);

  double cart[4] = {0, 0, 2.6, 0};
  const auto cart_energy = [&] { return test::cart_pole_energy(cart); };
  const double cart_start = cart_energy();
  worst = 0;
  for (int t = 0; t < 5000; ++t) {
    CartPoleBody::move(cart, 0.0, CartPoleBody::dt);
    worst = std::max(worst, std::abs(cart_energy() - cart_start));
  }
  CAPTURE(cart_start, worst);
  CHECK(worst < 0.15);  // of 1 J
}

TEST_CASE("sine and cosine in float are right to 2e-7 over the angles that tasks reach", "[envs][control]") {
  double worst = 0;
  for (int i = -400000; i <= 400000; ++i) {
    const float angle = static_cast<float>(i) * 0.01F;
    const auto [sine, cosine] = sine_cosine(angle);
    worst = std::max({worst, std::abs(sine - std::sin(double{angle})), std::abs(cosine - std::cos(double{angle}))});
  }
  CHECK(worst < 2e-7);
}

}  // namespace stein::envs
