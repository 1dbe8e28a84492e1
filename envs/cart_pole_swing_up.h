// rllab's Cartpole Swing-Up (Duan et al. 2016).
#pragma once

#include <stein/envs/cart_pole_body.h>

namespace stein::envs {

/// Swing the pole of `CartPoleBody` up from about hanging. Reward cos θ of the state after the step; −100 where
/// |x| > 3, which ends it.
class CartPoleSwingUp {
 public:
  /// None besides those of every control task.
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  static constexpr int state_size = 4, observation_size = 4, action_size = 1;
  static constexpr double largest_position = 3;

  explicit CartPoleSwingUp(const Options&) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    constexpr double pi = 3.14159265358979323846;
    state[0] = draws.uniform(-1, 1);
    state[1] = draws.uniform(-2, 2);
    state[2] = draws.uniform(pi - 1, pi + 1);
    state[3] = draws.uniform(-3, 3);
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    CartPoleBody::move(state, action[0], static_cast<Real>(CartPoleBody::dt));
    return outcome(state, action);
  }
  /// Of the state after a step.
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> outcome(const Real (&state)[state_size],
                                                              const Real (&)[action_size]) const {
    const bool out = std::abs(state[0]) > static_cast<Real>(largest_position);
    const Real height = sine_cosine(state[2]).cosine;
    return {.reward = out ? Real(-100) : height, .terminated = out ? Real(1) : Real(0)};
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    for (int k = 0; k < 4; ++k) observation[k] = state[k];
  }
};

}  // namespace stein::envs
