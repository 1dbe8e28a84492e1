// rllab's Double Pendulum (Duan et al. 2016): two links, and a motor at the elbow.
#pragma once

#include <stein/envs/dynamics.h>

namespace stein::envs {

/// Two links of 0.5 kg and length L = 1 that hang at θ = 0, angles absolute and counter-clockwise; torque within ±50 on
/// the second link, its reaction on the first; gravity 10 m/s², no friction. With l = ½ and I the moment of inertia
/// about a link's end
///   (I + m L²) θ̈₁ + m L l cos(θ₁ − θ₂) θ̈₂ = −τ − m L l sin(θ₁ − θ₂) θ̇₂² − (m l + m L) g sin θ₁
///   m L l cos(θ₁ − θ₂) θ̈₁ + I θ̈₂          =  τ + m L l sin(θ₁ − θ₂) θ̇₁² − m l g sin θ₂,
/// semi-implicit Euler, two steps of 0.01 s for an action; no link turns by more than a quarter turn a step, the limit
/// of Box2D, which rllab moves it with: without it strong torques end in infinity. State [θ₁, θ̇₁, θ₂, θ̇₂], observation
/// [sin θ₁, cos θ₁, θ̇₁, sin θ₂, cos θ₂, θ̇₂]. Reward: minus the distance of the tip from (0, 2L) after the step. It
/// never ends by itself.
class DoublePendulum {
 public:
  /// How the distance of the tip from its goal is measured.
  enum class Reward {
    corrected,  ///< from where the tip is
    rllab,      ///< with the sign of L sin θ₂ that rllab's code has
  };
  /// Which of the rewards in print is meant.
  struct Options {
    Reward reward = Reward::corrected;
    template <class V>
    void describe(V& v) {
      v("reward", reward, "from where the tip is, or with the slip in the tip's x that rllab's code has",
        {{"corrected", Reward::corrected}, {"rllab", Reward::rllab}});
    }
  };
  static constexpr int state_size = 4, observation_size = 6, action_size = 1;
  static constexpr double gravity = 10, mass = 0.5, length = 1, centre = 0.5, inertia = 0.167083;
  static constexpr double largest_torque = 50, dt = 0.01;
  static constexpr double largest_speed = 3.14159265358979323846 / 2 / dt;
  static constexpr int substeps = 2;

  explicit DoublePendulum(const Options& options) : side_(options.reward == Reward::corrected ? 1 : -1) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    state[0] = 0.1 * draws.normal();
    state[1] = 0.01 * draws.normal();
    state[2] = 0.1 * draws.normal();
    state[3] = 0.01 * draws.normal();
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    const Real torque = limited(action[0], static_cast<Real>(largest_torque));
    for (int k = 0; k < substeps; ++k) move(state, torque, static_cast<Real>(dt));
    return outcome(state, action);
  }
  /// Of the state after a step.
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> outcome(const Real (&state)[state_size],
                                                              const Real (&)[action_size]) const {
    const auto first = sine_cosine(state[0]), second = sine_cosine(state[2]);
    constexpr auto l = static_cast<Real>(length);
    const Real x = l * first.sine + static_cast<Real>(side_) * l * second.sine;
    const Real y = -l * first.cosine - l * second.cosine - 2 * l;
    return {.reward = -std::sqrt(x * x + y * y), .terminated = 0};
  }
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    const auto first = sine_cosine(state[0]), second = sine_cosine(state[2]);
    observation[0] = first.sine, observation[1] = first.cosine, observation[2] = state[1];
    observation[3] = second.sine, observation[4] = second.cosine, observation[5] = state[3];
  }
  /// The motion of one of the steps, over h seconds.
  template <class Real>
  STEIN_HOST_DEVICE static STEIN_ALWAYS_INLINE void move(Real (&state)[state_size], Real torque, Real h) {
    constexpr auto coupling = static_cast<Real>(mass * length * centre);
    constexpr auto inner = static_cast<Real>(inertia + mass * length * length), outer = static_cast<Real>(inertia);
    constexpr auto weight1 = static_cast<Real>((mass * centre + mass * length) * gravity);
    constexpr auto weight2 = static_cast<Real>(mass * centre * gravity);
    const auto first = sine_cosine(state[0]), second = sine_cosine(state[2]);
    // cos and sin of θ₁ − θ₂
    const Real cosine = first.cosine * second.cosine + first.sine * second.sine;
    const Real sine = first.sine * second.cosine - first.cosine * second.sine;
    const Real push1 = -torque - coupling * sine * state[3] * state[3] - weight1 * first.sine;
    const Real push2 = torque + coupling * sine * state[1] * state[1] - weight2 * second.sine;
    const Real off = coupling * cosine, determinant = inner * outer - off * off;
    constexpr auto fastest = static_cast<Real>(largest_speed);
    state[1] = limited(state[1] + h * (outer * push1 - off * push2) / determinant, fastest);
    state[3] = limited(state[3] + h * (inner * push2 - off * push1) / determinant, fastest);
    state[0] += h * state[1];
    state[2] += h * state[3];
  }

 private:
  double side_;
};

}  // namespace stein::envs
