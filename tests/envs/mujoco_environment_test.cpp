// What envs/mujoco/mujoco_environment.h says besides the contract of every environment: models of the user's own, what
// MuJoCo refuses, exact states, threads.
#include <stein/core/parallel.h>
#include <stein/envs/mujoco/model_texts.h>
#include <stein/envs/vector_environment.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

namespace stein::envs {
namespace {

using test::TemporaryDirectory;

std::unique_ptr<VectorEnvironment> make(const std::string& name, std::int64_t slots = 1,
                                        const std::map<std::string, std::string>& options = {}) {
  const auto builder = controls().at(name).builder();
  OptionTable table;
  builder->describe(table);
  for (const auto& [key, value] : options) table.set(key, value);
  return builder->make(slots);
}

/// `text` with the first `from` replaced, as a file.
std::string changed(const TemporaryDirectory& directory, std::string_view text, const std::string& from,
                    const std::string& to) {
  std::string mjcf(text);
  const std::size_t place = mjcf.find(from);
  REQUIRE(place != std::string::npos);
  mjcf.replace(place, from.size(), to);
  const std::string path = directory / "model.xml";
  std::ofstream(path) << mjcf;
  return path;
}

/// Pushes the cart of the swing-up against the ends of its rail, each slot in its own rhythm.
std::vector<float> pushes(const VectorEnvironment& environment) {
  std::vector<float> actions;
  for (std::int64_t slot = 0; slot < environment.slots(); ++slot)
    actions.push_back((environment.steps() + 7 * slot) / 90 % 2 == 0 ? 1.0F : -1.0F);
  return actions;
}

}  // namespace

TEST_CASE("a model of the user's own takes the place of a task's", "[envs][control][mujoco]") {
  const TemporaryDirectory directory;
  const std::string_view text = model_texts::inverted_pendulum;
  const auto after_a_step = [](const std::map<std::string, std::string>& options) {
    const auto environment = make("InvertedPendulum", 1, options);
    environment->reset(1);
    environment->step(std::vector<float>{1});
    return environment->state(0);
  };
  const auto own = after_a_step({});
  CHECK(after_a_step({{"model", changed(directory, text, "0.049", "0.049")}}) == own);
  CHECK(after_a_step({{"model", changed(directory, text, "size=\"0.049\"", "size=\"0.06\"")}}) != own);
  // Half the timestep, twice as often.
  const auto finer = after_a_step({{"model", changed(directory, text, "timestep=\"0.02\"", "timestep=\"0.01\"")}});
  for (std::size_t k = 0; k < own.size(); ++k) CHECK(finer[k] == Approx(own[k]).margin(1e-4));
  // The limits of the actions are those of the model.
  const auto weak = make("InvertedPendulum", 1, {{"model", changed(directory, text, "-3 3", "-1 2")}});
  CHECK(weak->spec().action[0].low == -1);
  CHECK(weak->spec().action[0].high == 2);
  CHECK_THAT(weak->spec().source, Catch::Contains("; MuJoCo ") && Catch::Contains("model.xml'"));
}

TEST_CASE("a model that cannot be used is an error with MuJoCo's own words", "[envs][control][mujoco]") {
  const TemporaryDirectory directory;
  const std::string_view text = model_texts::inverted_double_pendulum;
  const auto with = [](const std::string& path) { return make("InvertedDoublePendulum", 1, {{"model", path}}); };
  const auto altered = [&](const std::string& from, const std::string& to) {
    return with(changed(directory, text, from, to));
  };
  CHECK_ERROR(with(directory / "absent.xml"), data, "absent.xml' cannot be used", "MuJoCo: ", "absent.xml");
  CHECK_ERROR(altered("</mujoco>", ""), data, "model.xml' cannot be used", "XML");
  CHECK_ERROR(altered("<motor", "<engine"), data, "model.xml'", "engine", "line");
  CHECK_ERROR(altered("joint=\"cart\"", "joint=\"wheel\""), data, "model.xml'", "wheel");
  CHECK_ERROR(altered(" ctrlrange=\"-1 1\"", ""), data, "InvertedDoublePendulum", "ctrlrange", "control 0");
  CHECK_ERROR(altered("timestep=\"0.01\"", "timestep=\"0.03\""), data, "0.05 s", "0.03 s", "does not divide");
  CHECK_ERROR(altered("timestep=\"0.01\"", "timestep=\"0\""), data, "InvertedDoublePendulum");
  CHECK_ERROR(altered("name=\"tip\"", "name=\"top\""), data, "first site is called 'tip'", "model.xml' is not");
  CHECK_ERROR(with(changed(directory, model_texts::inverted_pendulum, "-3 3", "-1 1")), data,
              "3 positions, 3 velocities and 1 controls", "has 2, 2 and 1");
  // Not even a description can be had of it.
  const auto builder = controls().at("InvertedPendulum").builder();
  OptionTable table;
  builder->describe(table);
  table.set("model", "absent.xml");
  CHECK_ERROR(builder->spec(), data, "absent.xml");
}

TEST_CASE("what would end the program inside MuJoCo is an error, and the next call works", "[envs][control][mujoco]") {
  // Enough memory for a step, but not for one at the end of the rail.
  const TemporaryDirectory directory;
  const std::string model =
      changed(directory, model_texts::cart_pole_swing_up_dm, "<worldbody>", "<size memory=\"704\"/><worldbody>");
  const auto starved = make("cartpole-swingup-dm", 2, {{"model", model}});
  starved->reset(1);
  const auto until_it_fails = [&starved] {
    for (int t = 0; t < 100; ++t) starved->step(std::vector<float>{0, 1});
  };
  for (int round = 0; round < 2; ++round) {
    CHECK_ERROR(until_it_fails(), numeric, "cartpole-swingup-dm: slot 1 at step", "MuJoCo: ", "out of memory");
    starved->reset(1);
  }
  // Far too little: not even the model can be made.
  const std::string tiny =
      changed(directory, model_texts::cart_pole_swing_up_dm, "<worldbody>", "<size memory=\"64\"/><worldbody>");
  CHECK_ERROR(make("cartpole-swingup-dm", 2, {{"model", tiny}}), data, "model.xml' cannot be used",
              "MuJoCo: ", "out of memory");
}

TEST_CASE("a state that MuJoCo loses is an error that names the slot", "[envs][control][mujoco]") {
  const auto environment = make("cartpole-swingup-dm", 6);
  environment->reset(1);
  environment->step(pushes(*environment));
  environment->set_state(4, std::vector<double>{0, 0, 0, 1e12});
  CHECK_ERROR(environment->step(pushes(*environment)), numeric, "cartpole-swingup-dm: slot 4 at step 1", "MuJoCo: ");
  environment->reset(1);
  CHECK_NOTHROW(environment->step(pushes(*environment)));
}

TEST_CASE("saved at the end of the rail and restored, an episode goes on with the same bits",
          "[envs][control][mujoco]") {
  const auto environment = make("cartpole-swingup-dm", 5), again = make("cartpole-swingup-dm", 5);
  environment->reset(2);
  for (int t = 0; t < 70; ++t) environment->step(pushes(*environment));
  CHECK(environment->observations()[0] > 1.8);  // held by the limit's force, which the solver starts from
  Snapshot snapshot;
  environment->save(snapshot);
  again->restore(snapshot);
  for (int t = 0; t < 400; ++t) {
    const std::vector<float> actions = pushes(*environment);
    environment->step(actions), again->step(actions);
    REQUIRE(std::ranges::equal(again->observations(), environment->observations()));
    for (std::int64_t slot = 0; slot < 5; ++slot) REQUIRE(again->state(slot) == environment->state(slot));
  }
  const TemporaryDirectory directory;
  const std::string heavier = changed(directory, model_texts::cart_pole_swing_up_dm, "mass=\"1\"", "mass=\"2\"");
  CHECK_ERROR(make("cartpole-swingup-dm", 5, {{"model", heavier}})->restore(snapshot), data,
              "the saved cartpole-swingup-dm was on another model than", "model.xml'");
}

TEST_CASE("a state is the same wherever it comes from", "[envs][control][mujoco]") {
  // Nothing of what a slot did before remains: no warm start, no time.
  const auto environment = make("cartpole-swingup-dm", 2);
  environment->reset(3);
  for (int t = 0; t < 80; ++t) environment->step(std::vector<float>{1, -1});
  for (std::int64_t slot : {0, 1}) environment->set_state(slot, std::vector<double>{1.79, 2, 5, 1});
  for (int t = 0; t < 50; ++t) {
    environment->step(std::vector<float>{1, 1});
    REQUIRE(environment->state(0) == environment->state(1));
  }
}

TEST_CASE("episodes begin where Gymnasium's and dm_control's do", "[envs][control][mujoco]") {
  // Each quantity of the state: its mean, half the width of a uniform law or the standard deviation of a normal one.
  struct Law {
    double mean, spread;
    bool normal;
  };
  const double pi = 3.14159265358979323846;
  const Law near{0, 0.01, false}, place{0, 0.1, false}, speed{0, 0.1, true}, slow{0, 0.01, true};
  const std::map<std::string, std::vector<Law>> laws = {
      {"InvertedPendulum", {near, near, near, near}},
      {"InvertedDoublePendulum", {place, place, place, speed, speed, speed}},
      {"cartpole-swingup-dm", {slow, {pi, 0.01, true}, slow, slow}}};
  for (const auto& [name, law] : laws) {
    const std::int64_t n = 4096;
    const auto environment = make(name, n);
    environment->reset(7);
    for (std::size_t k = 0; k < law.size(); ++k) {
      double sum = 0, squares = 0;
      for (std::int64_t slot = 0; slot < n; ++slot) {
        const double off = environment->state(slot)[k] - law[k].mean;
        if (!law[k].normal) REQUIRE(std::abs(off) <= law[k].spread);
        sum += off, squares += off * off;
      }
      const double variance = law[k].spread * law[k].spread / (law[k].normal ? 1 : 3);
      const double kurtosis = law[k].normal ? 3 : 1.8;
      const auto count = static_cast<double>(n);
      INFO(name << ", quantity " << k);
      CHECK(std::abs(sum / count) / std::sqrt(variance / count) < 6.1);
      CHECK(std::abs(squares / count - variance) / (variance * std::sqrt((kurtosis - 1) / count)) < 6.1);
    }
  }
}

TEST_CASE("threads change no bit of a MuJoCo task", "[envs][control][mujoco][threads]") {
  const auto walk = [](int threads) {
    const int before = thread_count();
    set_thread_count(threads);
    const auto environment = make("cartpole-swingup-dm", 131);
    environment->reset(4);
    for (int t = 0; t < 150; ++t) environment->step(pushes(*environment));
    set_thread_count(before);
    return std::vector<float>(environment->observations().begin(), environment->observations().end());
  };
  const std::vector<float> alone = walk(1);
  CHECK(walk(2) == alone);
  CHECK(walk(5) == alone);
}

TEST_CASE("a twin's episodes begin where its task's do", "[envs][control][mujoco]") {
  for (const std::string name : {"cartpole", "cartpole-swingup", "double-pendulum"}) {
    const auto task = make(name, 9), twin = make(name + "-mujoco", 9);
    task->reset(5), twin->reset(5);
    CHECK(twin->spec().observation.size() == task->spec().observation.size());
    for (std::size_t k = 0; k < task->observations().size(); ++k)
      CHECK(twin->observations()[k] == Approx(task->observations()[k]).epsilon(1e-6).margin(1e-6));
  }
}

TEST_CASE("full torque for a whole episode leaves the links of the twin finite", "[envs][control][mujoco]") {
  const auto environment = make("double-pendulum-mujoco");
  environment->reset(6);
  for (int t = 0; t < 499; ++t) REQUIRE_NOTHROW(environment->step(std::vector<float>{50}));
  CHECK(std::abs(environment->state(0)[3]) > 50);
}

}  // namespace stein::envs
