// Energies [J] of the bodies of rllab's tasks, which nothing takes from while nobody drives them.
#pragma once

#include <stein/envs/cart_pole_body.h>
#include <stein/envs/double_pendulum.h>

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

}  // namespace stein::test
