// The cart and pole of rllab (Duan et al. 2016), which two tasks share.
#pragma once

#include <stein/envs/dynamics.h>

namespace stein::envs {

/// A cart of 1 kg on a rail without friction, a pole of 0.1 kg and length 1 on it, gravity 10 m/s², θ = 0 upright and
/// counter-clockwise positive; with l = ½ the distance of the pole's centre and I its moment of inertia about the pivot
///   (M + m) ẍ − m l cos θ θ̈ = F − m l sin θ θ̇²,   −m l cos θ ẍ + I θ̈ = m g l sin θ,
/// F within ±10 N; semi-implicit Euler (speeds first) by steps of 0.05 s. State [x, ẋ, θ, θ̇].
struct CartPoleBody {
  static constexpr double gravity = 10, cart_mass = 1, pole_mass = 0.1, centre = 0.5, inertia = 0.0334167;
  static constexpr double largest_force = 10, dt = 0.05;

  static std::vector<Quantity> quantities() {
    return {{.name = "cart position", .unit = "m"},
            {.name = "cart velocity", .unit = "m/s"},
            {.name = "pole angle", .unit = "rad"},
            {.name = "pole angular velocity", .unit = "rad/s"}};
  }

  /// The motion of a step, over h seconds.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void move(Real (&state)[4], Real force, Real h) {
    constexpr auto mass = static_cast<Real>(cart_mass + pole_mass), lever = static_cast<Real>(pole_mass * centre);
    constexpr auto moment = static_cast<Real>(inertia), weight = static_cast<Real>(pole_mass * gravity * centre);
    const auto [sine, cosine] = sine_cosine(state[2]);
    const Real push = limited(force, static_cast<Real>(largest_force)) - lever * sine * state[3] * state[3];
    const Real pull = weight * sine, coupling = lever * cosine;
    const Real determinant = mass * moment - coupling * coupling;
    state[1] += h * (moment * push + coupling * pull) / determinant;
    state[3] += h * (mass * pull + coupling * push) / determinant;
    state[0] += h * state[1];
    state[2] += h * state[3];
  }
};

}  // namespace stein::envs
