// The cart and pole of Barto, Sutton & Anderson 1983 as Gymnasium's CartPole-v1 has them.
#pragma once

#include <stein/envs/dynamics.h>

namespace stein::envs {

/// A pole balances on a cart that is pushed left (0) or right (1) with 10 N; explicit Euler steps of 0.02 s. State and
/// observation [x, ẋ, θ, θ̇], θ = 0 upright. It ends where |x| > 2.4 or |θ| > 12°; every step gives 1, the last too.
class CartPole {
 public:
  /// None besides those of every control task.
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 4, observation_size = 4, action_size = 1;
  static constexpr double gravity = 9.8, cart_mass = 1, pole_mass = 0.1, half_length = 0.5, force = 10, dt = 0.02;
  static constexpr double largest_position = 2.4, largest_angle = 12 * 2 * 3.14159265358979323846 / 360;

  explicit CartPole(const Options&) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    for (double& number : state) number = draws.uniform(-0.05, 0.05);
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    const Real push = action[0] > Real(0.5) ? static_cast<Real>(force) : static_cast<Real>(-force);
    move(state, push, static_cast<Real>(dt));
    const bool out = (std::abs(state[0]) > static_cast<Real>(largest_position)) |
                     (std::abs(state[2]) > static_cast<Real>(largest_angle));
    return {.reward = 1, .terminated = out ? Real(1) : Real(0)};
  }
  /// The motion of a step under `push` [N], over h seconds.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void move(Real (&state)[state_size], Real push, Real h) {
    // By constants it multiplies instead of dividing, which saves a tenth of a step's time.
    constexpr auto per_mass = static_cast<Real>(1 / (cart_mass + pole_mass)),
                   share = static_cast<Real>(pole_mass / (cart_mass + pole_mass)),
                   moment = static_cast<Real>(pole_mass * half_length);
    const auto [sine, cosine] = sine_cosine(state[2]);
    const Real drive = (push + moment * state[3] * state[3] * sine) * per_mass;
    const Real angular = (static_cast<Real>(gravity) * sine - cosine * drive) /
                         (static_cast<Real>(half_length) * (static_cast<Real>(4.0 / 3) - share * cosine * cosine));
    const Real linear = drive - moment * per_mass * angular * cosine;
    state[0] += h * state[1];
    state[1] += h * linear;
    state[2] += h * state[3];
    state[3] += h * angular;
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    for (int k = 0; k < 4; ++k) observation[k] = state[k];
  }
};

}  // namespace stein::envs
