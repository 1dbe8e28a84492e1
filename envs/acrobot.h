// Gymnasium's Acrobot-v1: two links that hang, a motor between them, and a height to reach with the tip.
#pragma once

#include <stein/envs/dynamics.h>

namespace stein::envs {

/// Both links have mass, length and moment of inertia 1 and their centre at ½ (Sutton 1996, with the corrected equation
/// of Sutton & Barto 1998); θ₁ from hanging down, θ₂ relative to the first link. Torque −1, 0 or 1 (choices 0, 1, 2) on
/// the joint; one Runge–Kutta step of 0.2 s, then angles in [−π, π) and speeds within ±4π and ±9π. State
/// [θ₁, θ₂, θ̇₁, θ̇₂]. −1 a step, 0 for the one that brings −cos θ₁ − cos(θ₁ + θ₂) above 1, which ends it.
class Acrobot {
 public:
  /// None besides those of every control task.
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 4, observation_size = 6, action_size = 1;
  static constexpr double pi = 3.14159265358979323846, dt = 0.2;
  static constexpr double gravity = 9.8, mass = 1, length = 1, centre = 0.5, inertia = 1;
  static constexpr double largest_speeds[2] = {4 * pi, 9 * pi};

  explicit Acrobot(const Options&) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    for (double& number : state) number = draws.uniform(-0.1, 0.1);
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    move(state, action[0] - 1, static_cast<Real>(dt));
    constexpr Real largest[2] = {static_cast<Real>(largest_speeds[0]), static_cast<Real>(largest_speeds[1])};
    for (int k = 0; k < 2; ++k) {
      state[k] = wrapped(state[k]);
      state[2 + k] = limited(state[2 + k], largest[k]);
    }
    const bool high = -sine_cosine(state[0]).cosine - sine_cosine(state[0] + state[1]).cosine > 1;
    return {.reward = high ? Real(0) : Real(-1), .terminated = high ? Real(1) : Real(0)};
  }
  /// The motion of a step, one Runge–Kutta step of h seconds, before angles are wrapped and speeds limited.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void move(Real (&state)[state_size], Real torque, Real h) {
    Real k1[4], k2[4], k3[4], k4[4], at[4];
    slope(state, torque, k1);
    for (int k = 0; k < 4; ++k) at[k] = state[k] + h / 2 * k1[k];
    slope(at, torque, k2);
    for (int k = 0; k < 4; ++k) at[k] = state[k] + h / 2 * k2[k];
    slope(at, torque, k3);
    for (int k = 0; k < 4; ++k) at[k] = state[k] + h * k3[k];
    slope(at, torque, k4);
    for (int k = 0; k < 4; ++k) state[k] += h / 6 * (k1[k] + 2 * k2[k] + 2 * k3[k] + k4[k]);
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    const auto first = sine_cosine(state[0]), second = sine_cosine(state[1]);
    observation[0] = first.cosine, observation[1] = first.sine;
    observation[2] = second.cosine, observation[3] = second.sine;
    observation[4] = state[2], observation[5] = state[3];
  }

 private:
  /// d/dt of the state.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void slope(const Real (&state)[state_size], Real torque,
                                                          Real (&rate)[4]) {
    constexpr auto g = static_cast<Real>(gravity), m = static_cast<Real>(mass), l = static_cast<Real>(length),
                   lc = static_cast<Real>(centre), i = static_cast<Real>(inertia);
    const auto [sine2, cosine2] = sine_cosine(state[1]);
    const Real d1 = m * lc * lc + m * (l * l + lc * lc + 2 * l * lc * cosine2) + 2 * i;
    const Real d2 = m * (lc * lc + l * lc * cosine2) + i;
    const Real phi2 = m * lc * g * sine_cosine(state[0] + state[1]).sine;
    const Real phi1 = -m * l * lc * state[3] * state[3] * sine2 - 2 * m * l * lc * state[3] * state[2] * sine2 +
                      m * (lc + l) * g * sine_cosine(state[0]).sine + phi2;
    const Real second =
        (torque + d2 / d1 * phi1 - m * l * lc * state[2] * state[2] * sine2 - phi2) / (m * lc * lc + i - d2 * d2 / d1);
    rate[0] = state[2], rate[1] = state[3];
    rate[2] = -(d2 * second + phi1) / d1;
    rate[3] = second;
  }
};

}  // namespace stein::envs
