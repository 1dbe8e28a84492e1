// Deep sea (Osband et al. 2019, 2020): a treasure at the end of one path, which has to be dived for against the
// current.
#pragma once

#include <stein/envs/dynamics.h>

#include <algorithm>

namespace stein::envs {

/// A diver over `size` rows and columns, who begins at the upper left and falls by a row a step, a column to the left
/// (0) or to the right (1). A step to the right costs `move_cost` / size; one from the last column finds the treasure
/// and pays 1. Only right in every row gets there, with a return of 1 − move_cost; always left has 0, and whoever goes
/// right now and then has less, so what is seen teaches to stay left, and chance in every step finds the treasure in
/// one of 2^size episodes. An episode has `size` steps.
///
/// bsuite's has observations that are one-hot over all places, and draws in every row which action is right. Here the
/// place is two numbers and right is right: a policy that means one way can be drawn.
class DeepSea {
 public:
  /// How deep it is, and what it costs to get there.
  struct Options {
    std::int64_t size = 10;
    double move_cost = 0.01;
    template <class V>
    void describe(V& v) {
      v("size", size, "N: rows and columns, steps of an episode", between(2, 10'000));
      v("move_cost", move_cost, "what a way of steps to the right costs, N of them", between(0, 1));
    }
  };
  static constexpr int state_size = 2, observation_size = 2, action_size = 1;

  explicit DeepSea(const Options& options) : size_(static_cast<double>(options.size)), move_cost_(options.move_cost) {}
  ControlSpec spec() const;
  STEIN_HOST_DEVICE void reset(Draws&, double (&state)[state_size]) const { state[0] = state[1] = 0; }

  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Outcome<Real> step(Real (&state)[state_size],
                                                           const Real (&action)[action_size]) const {
    const auto size = static_cast<Real>(size_);
    const bool found = (action[0] > Real(0.5)) & (state[1] > size - Real(1.5));
    state[0] += 1;
    state[1] = std::min(std::max(state[1] + 2 * action[0] - 1, Real(0)), size - 1);
    return {.reward = (found ? Real(1) : Real(0)) - action[0] * static_cast<Real>(move_cost_ / size_),
            .terminated = state[0] > size - Real(0.5) ? Real(1) : Real(0)};
  }
  /// Row and column, each in units of the size.
  template <class Real>
  STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE void observe(const Real (&state)[state_size],
                                                     Real (&observation)[observation_size]) const {
    const auto per_size = static_cast<Real>(1 / size_);
    observation[0] = state[0] * per_size, observation[1] = state[1] * per_size;
  }

 private:
  double size_, move_cost_;
};

}  // namespace stein::envs
