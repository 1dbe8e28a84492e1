// What the classic control tasks have in common: a state that a pure function moves.
//
// A task is a class with
//   struct Options                                      described once (core/options.h)
//   static constexpr int state_size, observation_size, action_size
//   explicit Task(const Options&)
//   ControlSpec spec() const
//   void reset(Draws&, double (&state)[state_size]) const                     draws where an episode begins
//   Outcome<Real> step(Real (&state)[…], const Real (&action)[…]) const       moves the state
//   void observe(const Real (&state)[…], Real (&observation)[…]) const
// The last three are for kernels too: the task is copied to the device. The last two are templates over Real, always
// inlined and without a branch that depends on numbers, so that a loop over slots becomes a SIMD loop: floats in
// training, doubles where a user compares dynamics with their own.
#pragma once

#include <stein/core/host_device.h>
#include <stein/core/options.h>
#include <stein/core/rng.h>
#include <stein/core/sine_cosine.h>
#include <stein/envs/control_spec.h>

namespace stein::envs {

/// What a step gave besides the next state.
template <class Real>
struct Outcome {
  Real reward;
  Real terminated;  ///< 1 if the state is terminal, else 0
};

/// `value` limited to ±bound.
template <class Real>
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real limited(Real value, Real bound) {
  const Real above = value > bound ? bound : value;
  return above < -bound ? -bound : above;
}

/// An angle [rad] brought into [−π, π): θ − 2π ⌊(θ + π)/2π⌋.
template <class Real>
STEIN_HOST_DEVICE STEIN_ALWAYS_INLINE Real wrapped(Real angle) {
  constexpr Real pi = static_cast<Real>(3.14159265358979323846);
  return angle - 2 * pi * std::floor((angle + pi) / (2 * pi));
}

}  // namespace stein::envs
