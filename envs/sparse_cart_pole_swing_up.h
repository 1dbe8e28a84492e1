// bsuite's Cartpole Swingup (Osband et al. 2020): a pole to swing up where nothing on the way there pays.
#pragma once

#include <stein/envs/cart_pole.h>

namespace stein::envs {

/// The cart and pole of `CartPole` from hanging, pushed left (0), not at all (1) or right (2); explicit Euler steps of
/// 0.01 s. A step pays 1 where the state after it has cos θ > `height`, |θ̇| < 1 and |x| < 1, and costs `move_cost`
/// where it pushes; it ends where |x| > 3. As the least that one can lose is to stay, chance pushes learn to stay: it
/// takes a policy that swings for a whole episode to meet the reward. State [x, ẋ, θ, θ̇].
class SparseCartPoleSwingUp {
 public:
  /// From where on a step pays, and what pushing costs.
  struct Options {
    double height = 0.5;
    double move_cost = 0.1;
    template <class V>
    void describe(V& v) {
      v("height", height, "cosine of the pole's angle above which a step pays", between(-1, 1));
      v("move_cost", move_cost, "what a step that pushes costs", between(0, 1));
    }
  };
  static constexpr int state_size = 4, observation_size = 5, action_size = 1;
  static constexpr double dt = 0.01, largest_position = 3, paid_position = 1, paid_velocity = 1, start_range = 0.05;

  explicit SparseCartPoleSwingUp(const Options& options) : height_(options.height), move_cost_(options.move_cost) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws& draws, double (&state)[state_size]) const {
    constexpr double pi = 3.14159265358979323846;
    for (double& number : state) number = draws.uniform(-start_range, start_range);
    state[2] += pi;
  }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    const Real way = action[0] - 1;
    CartPole::move(state, way * static_cast<Real>(CartPole::force), static_cast<Real>(dt));
    const bool paid = (sine_cosine(state[2]).cosine > static_cast<Real>(height_)) &
                      (std::abs(state[3]) < static_cast<Real>(paid_velocity)) &
                      (std::abs(state[0]) < static_cast<Real>(paid_position));
    const bool out = std::abs(state[0]) > static_cast<Real>(largest_position);
    return {.reward = (paid ? Real(1) : Real(0)) - static_cast<Real>(move_cost_) * std::abs(way),
            .terminated = out ? Real(1) : Real(0)};
  }
  /// x and ẋ in units of the largest position, as bsuite has them, but without the time: the horizon is no end here.
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    constexpr auto per_position = static_cast<Real>(1 / largest_position);
    const auto [sine, cosine] = sine_cosine(state[2]);
    observation[0] = state[0] * per_position, observation[1] = state[1] * per_position;
    observation[2] = sine, observation[3] = cosine;
    observation[4] = state[3];
  }

 private:
  double height_, move_cost_;
};

}  // namespace stein::envs
