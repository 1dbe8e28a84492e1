// rllab's Cartpole (Duan et al. 2016): balance with a continuous force.
#pragma once

#include <stein/envs/cart_pole_body.h>

namespace stein::envs {

/// Balance the pole of `CartPoleBody`. Reward 10 − (1 − cos θ) − 1e-5 a² of the state after the step, with the action
/// as it was given, even where the force is limited; 0 where |x| > 2.4 or |θ| > 0.2, which ends it.
class RllabCartPole {
 public:
  /// None besides those of every control task.
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 4, observation_size = 4, action_size = 1;
  static constexpr double largest_position = 2.4, largest_angle = 0.2;

  explicit RllabCartPole(const Options&) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    constexpr double spread[state_size] = {0.12, 0.2, 0.01, 0.2};
    for (int k = 0; k < state_size; ++k) state[k] = draws.uniform(-spread[k], spread[k]);
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    CartPoleBody::move(state, action[0], static_cast<Real>(CartPoleBody::dt));
    return outcome(state, action);
  }
  /// Of the state after a step under `action`.
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> outcome(const Real (&state)[state_size],
                                                              const Real (&action)[action_size]) const {
    const bool out = (std::abs(state[0]) > static_cast<Real>(largest_position)) |
                     (std::abs(state[2]) > static_cast<Real>(largest_angle));
    const Real standing = 10 - (1 - sine_cosine(state[2]).cosine) - Real(1e-5) * action[0] * action[0];
    return {.reward = out ? Real(0) : standing, .terminated = out ? Real(1) : Real(0)};
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    for (int k = 0; k < 4; ++k) observation[k] = state[k];
  }
};

}  // namespace stein::envs
