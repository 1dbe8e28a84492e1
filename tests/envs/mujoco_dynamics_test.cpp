// Steps of the MuJoCo tasks against the programs that they come from (reference/mujoco_vectors.json) and against the
// tasks of rllab that are written out in formulas.
#include <stein/core/read_file.h>
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/mujoco/mujoco_simulation.h>
#include <stein/envs/vector_environment.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/temporary_directory.h"

namespace stein::envs {
namespace {

nlohmann::json vectors(const std::string& name) {
  static const auto all =
      nlohmann::json::parse(read_file(std::string(STEIN_TESTS) + "/envs/reference/mujoco_vectors.json"));
  return all.at(name);
}

std::unique_ptr<VectorEnvironment> make(const std::string& name, const std::string& model = "") {
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
  const auto twin = make(task.spec().name + "-mujoco", model);
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

}  // namespace

TEST_CASE("a step of every MuJoCo task is that of Gymnasium or dm_control", "[envs][control][mujoco]") {
  for (const std::string name : {"InvertedPendulum", "InvertedDoublePendulum", "cartpole-swingup-dm"}) {
    DYNAMIC_SECTION(name) {
      const auto environment = make(name);
      for (const auto& reference : vectors(name)) {
        environment->set_state(0, reference["state"].get<std::vector<double>>());
        environment->step(reference["action"].get<std::vector<float>>());
        check_step(*environment, reference, 1e-12);
      }
    }
  }
}

TEST_CASE("a path into the ends of the rail is that of dm_control, warm starts and all", "[envs][control][mujoco]") {
  const auto environment = make("cartpole-swingup-dm");
  const auto path = vectors("cartpole-swingup-dm path");
  environment->set_state(0, path[0]["state"].get<std::vector<double>>());
  for (const auto& reference : path) {
    environment->step(reference["action"].get<std::vector<float>>());
    check_step(*environment, reference, 1e-9);
  }
}

TEST_CASE("under the same integrator a twin is its task, over one step and over half a second",
          "[envs][control][mujoco]") {
  // MuJoCo's Euler moves speeds first, as rllab's tasks do: what is left is rounding, and what an angle relative to
  // the first link adds: MuJoCo adds the same speeds in another order.
  const test::TemporaryDirectory directory;
  const std::string cart = with_integration(directory, model_texts::rllab_cart_pole, "0.05", "Euler");
  const std::string links = with_integration(directory, model_texts::rllab_double_pendulum, "0.01", "Euler");
  CHECK(largest_difference(CartPoleSwingUp({}), cart, 12, 1) < 1e-13);
  CHECK(largest_difference(CartPoleSwingUp({}), cart, 12, 10) < 1e-11);
  CHECK(largest_difference(DoublePendulum({}), links, 60, 1) < 1e-12);
  CHECK(largest_difference(DoublePendulum({}), links, 60, 25) < 1e-8);
}

TEST_CASE("twins", "[.probe]") {
  for (int steps : {1, 10}) WARN(steps << " " << largest_difference(CartPoleSwingUp({}), "", 12, steps));
  for (int steps : {1, 25}) WARN(steps << " " << largest_difference(DoublePendulum({}), "", 60, steps));
  const test::TemporaryDirectory directory;
  const std::string cart = with_integration(directory, model_texts::rllab_cart_pole, "0.05", "Euler");
  const std::string links = with_integration(directory, model_texts::rllab_double_pendulum, "0.01", "Euler");
  for (int steps : {1, 10}) WARN(steps << " " << largest_difference(CartPoleSwingUp({}), cart, 12, steps));
  for (int steps : {1, 25}) WARN(steps << " " << largest_difference(DoublePendulum({}), links, 60, steps));
}

}  // namespace stein::envs
