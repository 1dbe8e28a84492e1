// The energy of the classic tasks' bodies while nobody drives them: what an integrator of order p gains or loses of it
// over a fixed time is as h^p for steps of h seconds. Forces that are not those of the energy, a wrong sign in gravity
// or a missing Coriolis term, change the energy whatever the step.
#include <stein/envs/cart_pole_swing_up.h>
#include <stein/envs/rllab_cart_pole.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "envs/energy.h"

namespace stein::envs {
namespace {

/// A body that moves by itself from `start`, and its energy.
template <std::size_t N>
struct FreeBody {
  void (*move)(double (&state)[N], double push, double h);
  double (*energy)(std::span<const double> state);
  double start[N];
  double seconds;

  /// The largest difference of the energy from that of the start, in steps of h seconds.
  double energy_error(double h) const {
    double state[N], worst = 0;
    std::ranges::copy(start, state);
    for (int t = 0; t < static_cast<int>(std::lround(seconds / h)); ++t) {
      move(state, 0, h);
      worst = std::max(worst, std::abs(energy(std::span(state)) - energy(std::span(start))));
    }
    return worst;
  }
  /// p of an error that is as h^p, from steps of h and of h/2.
  double order(double h) const { return std::log2(energy_error(h) / energy_error(h / 2)); }
};

}  // namespace

TEST_CASE("the energy error of undriven tasks shrinks with the step at the order of their integrators",
          "[envs][control]") {
  // Starts from which every part of a body moves at once.
  const FreeBody<2> pendulum{Pendulum::move<double>, test::pendulum_energy, {0.5, 1}, 5};
  const FreeBody<4> gymnasium{CartPole::move<double>, test::gymnasium_cart_pole_energy, {0, 0.5, 2, -1}, 3};
  const FreeBody<4> rllab{CartPoleBody::move<double>, test::cart_pole_energy, {0, 0.5, 2, -1}, 3};
  const FreeBody<4> links{DoublePendulum::move<double>, test::double_pendulum_energy, {1, 0.5, -0.5, 1}, 3};
  const FreeBody<4> acrobot{Acrobot::move<double>, test::acrobot_energy, {1, -0.5, 0.5, 1}, 3};
  // Steps small enough that errors of the next order, a share as h, move the order found by less than is allowed.
  const double euler = 1.0 / 4096, runge_kutta = 1.0 / 160;
  CHECK(pendulum.order(euler) == Approx(1).margin(0.02));
  CHECK(gymnasium.order(euler) == Approx(1).margin(0.02));
  CHECK(rllab.order(euler) == Approx(1).margin(0.02));
  CHECK(links.order(euler) == Approx(1).margin(0.02));
  CHECK(acrobot.order(runge_kutta) == Approx(4).margin(0.1));
}

TEST_CASE("a step of a classic task is its motion over the seconds that the task says", "[envs][control]") {
  const auto check = []<class Task>(const Task& task, double action, const auto& motion) {
    double state[Task::state_size] = {0.3, -0.2}, moved[Task::state_size] = {0.3, -0.2};
    task.step(state, {action});
    motion(moved, task.spec().step_seconds);
    INFO(task.spec().name);
    CHECK(std::ranges::equal(state, moved));
  };
  check(Pendulum({}), 0.5, [](auto& state, double h) { Pendulum::move(state, 0.5, h); });
  check(CartPole({}), 1, [](auto& state, double h) { CartPole::move(state, CartPole::force, h); });
  check(RllabCartPole({}), 2, [](auto& state, double h) { CartPoleBody::move(state, 2.0, h); });
  check(CartPoleSwingUp({}), 2, [](auto& state, double h) { CartPoleBody::move(state, 2.0, h); });
  check(Acrobot({}), 2, [](auto& state, double h) { Acrobot::move(state, 1.0, h); });
  check(DoublePendulum({}), 2, [](auto& state, double h) {
    for (int k = 0; k < DoublePendulum::substeps; ++k) DoublePendulum::move(state, 2.0, h / DoublePendulum::substeps);
  });
}

}  // namespace stein::envs
