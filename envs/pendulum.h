// Gymnasium's Pendulum-v1: swing a pendulum up with too weak a motor, and keep it there.
#pragma once

#include <stein/envs/dynamics.h>

namespace stein::envs {

/// A rod of mass m = 1 and length l = 1 turns about its end, θ̈ = 3 g/(2 l) sin θ + 3/(m l²) u, θ = 0 upright; torque
/// |u| ≤ 2, speed |θ̇| ≤ 8; the speed moves first, then the angle, by steps of 0.05 s. State [θ, θ̇], observation [cos θ,
/// sin θ, θ̇]. The reward −(θ² + 0.1 θ̇² + 0.001 u²) is that of the state before the step, θ in [−π, π). It never ends by
/// itself.
class Pendulum {
 public:
  /// None besides those of every control task.
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 2, observation_size = 3, action_size = 1;
  static constexpr double gravity = 10, mass = 1, length = 1;
  static constexpr double largest_torque = 2, largest_speed = 8, dt = 0.05;

  explicit Pendulum(const Options&) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    constexpr double pi = 3.14159265358979323846;
    state[0] = draws.uniform(-pi, pi);
    state[1] = draws.uniform(-1, 1);
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    const Real torque = limited(action[0], static_cast<Real>(largest_torque)), angle = wrapped(state[0]);
    const Real cost = angle * angle + Real(0.1) * state[1] * state[1] + Real(0.001) * torque * torque;
    move(state, torque, static_cast<Real>(dt));
    return {.reward = -cost, .terminated = 0};
  }
  /// The motion of a step, over h seconds.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void move(Real (&state)[state_size], Real torque, Real h) {
    constexpr auto fall = static_cast<Real>(3 * gravity / (2 * length)),
                   turn = static_cast<Real>(3 / (mass * length * length));
    const Real speed = state[1] + (fall * sine_cosine(state[0]).sine + turn * torque) * h;
    state[1] = limited(speed, static_cast<Real>(largest_speed));
    state[0] += state[1] * h;
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    const auto [sine, cosine] = sine_cosine(state[0]);
    observation[0] = cosine, observation[1] = sine, observation[2] = state[1];
  }
};

}  // namespace stein::envs
