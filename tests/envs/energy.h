// Energies [J] of the bodies of tasks, kinetic and of height, which nothing takes from while nobody drives them.
#pragma once

#include <stein/envs/acrobot.h>
#include <stein/envs/cart_pole.h>
#include <stein/envs/cart_pole_body.h>
#include <stein/envs/double_pendulum.h>
#include <stein/envs/pendulum.h>

#include <cmath>
#include <span>

namespace stein::test {

/// Of the state [x, ẋ, θ, θ̇].
inline double cart_pole_energy(std::span<const double> state) {
  const double m = envs::CartPoleBody::pole_mass, l = envs::CartPoleBody::centre;
  return 0.5 * (envs::CartPoleBody::cart_mass + m) * state[1] * state[1] +
         0.5 * envs::CartPoleBody::inertia * state[3] * state[3] - m * l * std::cos(state[2]) * state[1] * state[3] +
         m * envs::CartPoleBody::gravity * l * std::cos(state[2]);
}

/// Of the state [θ₁, θ̇₁, θ₂, θ̇₂].
inline double double_pendulum_energy(std::span<const double> state) {
  const double m = envs::DoublePendulum::mass, l = envs::DoublePendulum::centre, length = envs::DoublePendulum::length;
  const double i = envs::DoublePendulum::inertia, g = envs::DoublePendulum::gravity;
  return 0.5 * (i + m * length * length) * state[1] * state[1] + 0.5 * i * state[3] * state[3] +
         m * length * l * std::cos(state[0] - state[2]) * state[1] * state[3] -
         (m * l + m * length) * g * std::cos(state[0]) - m * l * g * std::cos(state[2]);
}

/// A rod about its end, of the state [θ, θ̇].
inline double pendulum_energy(std::span<const double> state) {
  const double m = envs::Pendulum::mass, l = envs::Pendulum::length;
  return 0.5 * (m * l * l / 3) * state[1] * state[1] + m * envs::Pendulum::gravity * l / 2 * std::cos(state[0]);
}

/// A uniform pole on a cart, of the state [x, ẋ, θ, θ̇] of CartPole-v1: its θ grows towards positive x.
inline double gymnasium_cart_pole_energy(std::span<const double> state) {
  const double m = envs::CartPole::pole_mass, l = envs::CartPole::half_length;
  const double across = state[1] + l * state[3] * std::cos(state[2]), up = -l * state[3] * std::sin(state[2]);
  return 0.5 * envs::CartPole::cart_mass * state[1] * state[1] + 0.5 * m * (across * across + up * up) +
         0.5 * (m * l * l / 3) * state[3] * state[3] + m * envs::CartPole::gravity * l * std::cos(state[2]);
}

/// Of the state [θ₁, θ₂, θ̇₁, θ̇₂], the second angle relative to the first link.
inline double acrobot_energy(std::span<const double> state) {
  using envs::Acrobot;
  const double m = Acrobot::mass, length = Acrobot::length, l = Acrobot::centre, i = Acrobot::inertia;
  const double outer = state[0] + state[1], outer_speed = state[2] + state[3];
  const double across = length * state[2] * std::cos(state[0]) + l * outer_speed * std::cos(outer);
  const double up = length * state[2] * std::sin(state[0]) + l * outer_speed * std::sin(outer);
  return 0.5 * (i + m * l * l) * state[2] * state[2] + 0.5 * m * (across * across + up * up) +
         0.5 * i * outer_speed * outer_speed - m * Acrobot::gravity * l * std::cos(state[0]) -
         m * Acrobot::gravity * (length * std::cos(state[0]) + l * std::cos(outer));
}

}  // namespace stein::test
