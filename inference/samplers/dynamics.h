// The discretised diffusions of stochastic-gradient MCMC by name, and the numbers of one of their steps.
#pragma once

#include <cstddef>

namespace stein::inference {

/// Which arithmetic moves a coordinate: diffusion_steps.inc has it, once for the reference, SIMD and CUDA.
enum class Dynamics {
  sgld,                        ///< no state
  psgld,                       ///< averaged square
  sghmc,                       ///< momentum
  sgnht,                       ///< momentum, thermostat
  sgnht_rest,                  ///< the same, thermostats at rest
  sgnht_scalar,                ///< momentum; one thermostat a particle
  santa_euler,                 ///< momentum, averaged square, thermostat
  santa_splitting,             ///< the same
  santa_refinement,            ///< the same: Euler without noise, thermostats at rest
  santa_splitting_refinement,  ///< the same, symmetric splitting
  santa_half_move,             ///< the same: what comes before the gradient in a splitting
};

/// What one step multiplies with; the same for all coordinates. A dynamics reads those that its equation has.
struct DiffusionNumbers {
  double drift = 0;              ///< of the gradient
  double noise = 0;              ///< sd of what is injected
  double keep = 0;               ///< 1 − friction
  double step = 0;               ///< h of SGNHT
  double temperature = 0;        ///< what the thermostat drives the squared momentum to
  double metric_correction = 0;  ///< Santa's term for a metric that changes: η T, or 0 to leave it out
  double square_decay = 0;       ///< of the averaged squared gradient
  double gradient_scale = 1;     ///< 1/N where the average is that of the mean gradient
  double epsilon = 0;            ///< added to the root of the averaged square
};

inline constexpr std::size_t most_states = 3;

/// How many numbers a dynamics keeps for every coordinate.
std::size_t state_count(Dynamics dynamics);

}  // namespace stein::inference
