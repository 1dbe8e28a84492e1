// Steps of the MuJoCo tasks against the programs that they come from (reference/mujoco_vectors.json) and against the
// tasks of rllab that are written out in formulas.
#include <stein/core/read_file.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_simulation.h>
#include <stein/envs/vector_environment.h>

#include <Eigen/Dense>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/temporary_directory.h"
#include "envs/energy.h"

namespace stein::envs {
namespace {

nlohmann::json vectors(const std::string& name) {
  static const auto all =
      nlohmann::json::parse(read_file(std::string(STEIN_TESTS) + "/envs/reference/mujoco_vectors.json"));
  return all.at(name);
}

std::unique_ptr<VectorEnvironment> make_slot(const std::string& name, const std::string& model = "") {
  const auto builder = controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  if (!model.empty()) table.set("model", model);
  auto environment = builder->make(1);
  environment->reset(1);
  return environment;
}

/// What one step gave, compared with the reference to `tolerance`, or to float precision where we give floats.
void check_step(const VectorEnvironment& environment, const nlohmann::json& reference, double tolerance) {
  INFO(reference.dump());
  const bool terminated = reference["terminated"];
  CHECK((environment.terminated()[0] == 1) == terminated);
  CHECK(environment.rewards()[0] == Approx(reference["reward"].get<double>()).epsilon(3e-7).margin(3e-7));
  const auto seen = terminated ? environment.final_observations() : environment.observations();
  REQUIRE(seen.size() == reference["observation"].size());
  for (std::size_t k = 0; k < seen.size(); ++k)
    CHECK(seen[k] == Approx(reference["observation"][k].get<double>()).epsilon(3e-7).margin(3e-7));
  if (terminated) return;  // the slot is already elsewhere
  const std::vector<double> state = environment.state(0);
  for (std::size_t k = 0; k < state.size(); ++k)
    CHECK(state[k] == Approx(reference["next"][k].get<double>()).epsilon(tolerance).margin(tolerance));
}

/// The model of a task with other integration, as a file.
std::filesystem::path with_integration(const test::TemporaryDirectory& directory, std::string_view text,
                                       const std::string& timestep, const std::string& integrator) {
  std::string mjcf(text);
  const auto replace = [&mjcf](const std::string& attribute, const std::string& value) {
    const std::size_t begin = mjcf.find(attribute + "=\"") + attribute.size() + 2;
    mjcf.replace(begin, mjcf.find('"', begin) - begin, value);
  };
  replace("timestep", timestep);
  replace("integrator", integrator);
  const auto path = directory.path() / (integrator + timestep + ".xml");
  std::ofstream(path) << mjcf;
  return path;
}

/// The largest difference of a state between a task in formulas, in double precision, and its twin over `steps` steps
/// from several starts under changing actions.
template <class Task>
double largest_difference(const Task& task, const std::string& model, double largest_action, int steps) {
  double worst = 0;
  const auto twin = make_slot(task.spec().name + "-mujoco", model);
  for (std::uint32_t start = 0; start < 12; ++start) {
    Draws draws({.seed = 4, .stream = Stream::test}, start);
    double state[Task::state_size];
    task.reset(draws, state);
    twin->set_state(0, state);
    for (int t = 0; t < steps; ++t) {
      const auto action = static_cast<float>(draws.uniform(-largest_action, largest_action));
      task.step(state, {double{action}});
      twin->step(std::vector<float>{action});
      if (twin->terminated()[0] == 1) break;
      const std::vector<double> found = twin->state(0);
      for (std::size_t k = 0; k < found.size(); ++k) worst = std::max(worst, std::abs(found[k] - state[k]));
    }
  }
  return worst;
}

using State = std::array<double, 4>;

/// Time derivatives of [x, ẋ, θ, θ̇] by the equations in envs/cart_pole_body.h.
State cart_pole_motion(const State& s, double force) {
  const double m = CartPoleBody::pole_mass, l = CartPoleBody::centre;
  const double sine = std::sin(s[2]), cosine = std::cos(s[2]);
  const Eigen::Matrix2d mass{{CartPoleBody::cart_mass + m, -m * l * cosine}, {-m * l * cosine, CartPoleBody::inertia}};
  const Eigen::Vector2d push(std::clamp(force, -10.0, 10.0) - m * l * sine * s[3] * s[3],
                             m * CartPoleBody::gravity * l * sine);
  const Eigen::Vector2d acceleration = mass.inverse() * push;
  return {s[1], acceleration[0], s[3], acceleration[1]};
}

/// Time derivatives of [θ₁, θ̇₁, θ₂, θ̇₂] by the equations in envs/double_pendulum.h.
State double_pendulum_motion(const State& s, double torque) {
  const double m = DoublePendulum::mass, l = DoublePendulum::centre, length = DoublePendulum::length;
  const double i = DoublePendulum::inertia, g = DoublePendulum::gravity;
  const double sine = std::sin(s[0] - s[2]), cosine = std::cos(s[0] - s[2]);
  const double limited_torque = std::clamp(torque, -50.0, 50.0);
  const Eigen::Matrix2d mass{{i + m * length * length, m * length * l * cosine}, {m * length * l * cosine, i}};
  const Eigen::Vector2d push(
      -limited_torque - m * length * l * sine * s[3] * s[3] - (m * l + m * length) * g * std::sin(s[0]),
      limited_torque + m * length * l * sine * s[1] * s[1] - m * l * g * std::sin(s[2]));
  const Eigen::Vector2d acceleration = mass.inverse() * push;
  return {s[1], acceleration[0], s[3], acceleration[1]};
}

/// The state after `seconds`, by the classical Runge-Kutta method in steps of 0.1 ms.
State solved(State (*motion)(const State&, double), State state, double action, double seconds) {
  const double h = 1e-4;
  const auto ahead = [](State from, double time, const State& slope) {
    for (std::size_t k = 0; k < 4; ++k) from[k] += time * slope[k];
    return from;
  };
  for (int i = 0; i < static_cast<int>(std::lround(seconds / h)); ++i) {
    const State a = motion(state, action), b = motion(ahead(state, h / 2, a), action);
    const State c = motion(ahead(state, h / 2, b), action), d = motion(ahead(state, h, c), action);
    for (std::size_t k = 0; k < 4; ++k) state[k] += h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return state;
}

/// The same between a twin and the equations of motion of its task.
template <class Task>
double largest_error(State (*motion)(const State&, double), const std::string& name, const Task& task,
                     double largest_action, int steps) {
  double worst = 0;
  const auto twin = make_slot(name);
  for (std::uint32_t start = 0; start < 6; ++start) {
    Draws draws({.seed = 5, .stream = Stream::test}, start);
    double begin[Task::state_size];
    task.reset(draws, begin);
    twin->set_state(0, begin);
    State state;
    std::ranges::copy(begin, state.begin());
    for (int t = 0; t < steps; ++t) {
      const auto action = static_cast<float>(draws.uniform(-largest_action, largest_action));
      state = solved(motion, state, action, twin->spec().step_seconds);
      twin->step(std::vector<float>{action});
      if (twin->terminated()[0] == 1) break;
      const std::vector<double> found = twin->state(0);
      for (std::size_t k = 0; k < found.size(); ++k) worst = std::max(worst, std::abs(found[k] - state[k]));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("a step of every MuJoCo task is that of Gymnasium or dm_control", "[envs][control][mujoco]") {
  for (const std::string name : {"InvertedPendulum", "InvertedDoublePendulum", "cartpole-swingup-dm"}) {
    DYNAMIC_SECTION(name) {
      const auto environment = make_slot(name);
      for (const auto& reference : vectors(name)) {
        environment->set_state(0, reference["state"].get<std::vector<double>>());
        environment->step(reference["action"].get<std::vector<float>>());
        check_step(*environment, reference, 1e-12);
      }
    }
  }
}

TEST_CASE("a path into the ends of the rail is that of dm_control, warm starts and all", "[envs][control][mujoco]") {
  const auto environment = make_slot("cartpole-swingup-dm");
  const auto path = vectors("cartpole-swingup-dm path");
  environment->set_state(0, path[0]["state"].get<std::vector<double>>());
  for (const auto& reference : path) {
    environment->step(reference["action"].get<std::vector<float>>());
    check_step(*environment, reference, 1e-9);
  }
}

TEST_CASE("under the same integrator a twin is its task, over one step and over half a second",
          "[envs][control][mujoco]") {
  // MuJoCo's Euler moves speeds first, as rllab's tasks do: what is left is rounding.
  const test::TemporaryDirectory directory;
  const std::string cart = with_integration(directory, model_texts::rllab_cart_pole, "0.05", "Euler");
  const std::string links = with_integration(directory, model_texts::rllab_double_pendulum, "0.01", "Euler");
  CHECK(largest_difference(CartPoleSwingUp({}), cart, 12, 1) < 1e-13);
  CHECK(largest_difference(CartPoleSwingUp({}), cart, 12, 10) < 1e-13);
  CHECK(largest_difference(DoublePendulum({}), links, 60, 1) < 1e-12);
  CHECK(largest_difference(DoublePendulum({}), links, 60, 25) < 1e-10);
}

TEST_CASE("a model is compiled once while somebody has it", "[envs][control][mujoco]") {
  const std::string text(model_texts::rllab_cart_pole);
  const auto first = MujocoModel::from_text("cart", text), second = MujocoModel::from_text("cart", text);
  CHECK(first == second);
  CHECK(MujocoModel::from_text("links", std::string(model_texts::rllab_double_pendulum)) != first);
}

TEST_CASE("a twin's path is the solution of its task's equations of motion, over one step and over half a second",
          "[envs][control][mujoco]") {
  const std::string cart = "cartpole-swingup-mujoco", links = "double-pendulum-mujoco";
  CHECK(largest_error(cart_pole_motion, cart, CartPoleSwingUp({}), 12, 1) < 1e-7);
  CHECK(largest_error(cart_pole_motion, cart, CartPoleSwingUp({}), 12, 10) < 1e-6);
  CHECK(largest_error(double_pendulum_motion, links, DoublePendulum({}), 5, 1) < 1e-7);
  CHECK(largest_error(double_pendulum_motion, links, DoublePendulum({}), 5, 25) < 1e-6);
  // Full torques make links of 0.17 kg m² turn at tens of radians a second.
  CHECK(largest_error(double_pendulum_motion, links, DoublePendulum({}), 60, 1) < 1e-4);
  CHECK(largest_error(double_pendulum_motion, links, DoublePendulum({}), 60, 25) < 1e-2);
}

TEST_CASE("a task stays by its twin as close as rllab's integrator of first order can", "[envs][control][mujoco]") {
  // Of states in m, m/s, rad and rad/s. A step of h = 0.05 s under accelerations near 30 rad/s² misses h²/2 · 30 of an
  // angle and, as these accelerations change, the same again of a speed.
  CHECK(largest_difference(CartPoleSwingUp({}), "", 12, 1) < 0.06);
  CHECK(largest_difference(CartPoleSwingUp({}), "", 12, 10) < 0.25);
  CHECK(largest_difference(DoublePendulum({}), "", 1, 1) < 0.003);
  CHECK(largest_difference(DoublePendulum({}), "", 1, 25) < 0.015);
  CHECK(largest_difference(DoublePendulum({}), "", 5, 1) < 0.012);
  CHECK(largest_difference(DoublePendulum({}), "", 5, 25) < 0.1);
}

TEST_CASE("undriven twins keep their energy, and what they lose of it is as the fourth power of the step",
          "[envs][control][mujoco]") {
  const auto drift = [](const std::string& name, const std::string& model, const std::vector<double>& start,
                        const auto& energy, int steps) {
    const auto environment = make_slot(name, model);
    environment->set_state(0, start);
    const double before = energy(start);
    double worst = 0;
    for (int t = 0; t < steps; ++t) {
      environment->step(std::vector<float>{0});
      REQUIRE(environment->terminated()[0] == 0);
      if (environment->truncated()[0] == 0) worst = std::max(worst, std::abs(energy(environment->state(0)) - before));
    }
    return worst;
  };
  const std::string links_name = "double-pendulum-mujoco", cart_name = "cartpole-swingup-mujoco";
  // As in tests/envs/dynamics_test.cpp, where rllab's integrator lets 0.05 J and 0.15 J go.
  const double links = drift(links_name, "", {0.3, 0, 0.5, 0}, test::double_pendulum_energy, 500);
  const double cart = drift(cart_name, "", {0, 0, 2.6, 0}, test::cart_pole_energy, 500);
  CAPTURE(links, cart);
  CHECK(links < 1e-10);
  CHECK(cart < 5e-8);

  // As in tests/envs/energy_test.cpp: every part of a body moves at once. What Runge-Kutta loses over a long time is as
  // the fifth power, and more than that where steps are long.
  const test::TemporaryDirectory directory;
  const auto lost = [&](const std::string& step) {
    return std::pair(drift(links_name, with_integration(directory, model_texts::rllab_double_pendulum, step, "RK4"),
                           {1, 0.5, -0.5, 1}, test::double_pendulum_energy, 60),
                     drift(cart_name, with_integration(directory, model_texts::rllab_cart_pole, step, "RK4"),
                           {0, 0.5, 2, -1}, test::cart_pole_energy, 60));
  };
  const auto [links_whole, cart_whole] = lost("0.005");
  const auto [links_half, cart_half] = lost("0.0025");
  CHECK(std::log2(links_whole / links_half) == Approx(4).margin(0.2));
  CHECK(std::log2(cart_whole / cart_half) == Approx(4).margin(0.2));
}

}  // namespace stein::envs
