// Stochastic-gradient MCMC: discretised diffusions whose law is the posterior as the step size goes to 0.
#pragma once

#include <stein/inference/samplers/dynamics.h>
#include <stein/inference/samplers/gradient_sampler.h>
#include <stein/inference/storage/matrix.h>

#include <array>
#include <vector>

namespace stein::inference {

/// Everything that one step reads and writes.
template <class Scalar>
struct DiffusionStep {
  Dynamics dynamics;
  DiffusionNumbers numbers;
  MatrixView<Scalar> values;           ///< [m, Q]
  MatrixView<const Scalar> gradients;  ///< [m, Q] ∇ log joint
  std::array<MatrixView<Scalar>, most_states> states{};
  std::span<const Scalar> thermostats{};  ///< [m] ξ of sgnht_scalar
  NoiseKey noise{};
  std::int64_t first_row = 0;
  MoveWatch* watch = nullptr;  ///< of the sampler, where its driver has one
};

/// What a step saw on its way.
struct DiffusionResult {
  bool finite = true;                  ///< all values after it, or a watch is told
  std::span<double> momentum_squares;  ///< [m] Σ r² after it; written by sgnht_scalar only
};

/// A sampler whose step is one pass over values, gradients and state, with its noise made on the way.
///
/// Noise is keyed by (seed, step, global particle row, index of the coordinate): it depends on neither threads nor
/// shards nor how parameters are split into layers.
template <class Scalar>
class Diffusion : public GradientSampler<Scalar> {
 public:
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

  /// State k of every coordinate [M, Q], in the order of the dynamics: momentum first where there is one.
  MatrixView<const Scalar> state(std::size_t k) const;
  /// What the mean square of a momentum after the last step is multiplied with to be a temperature; 0 where there is no
  /// momentum, or none of which that is known.
  virtual double kinetic_scale() const { return 0; }

 protected:
  /// The parameters and errors of GradientSampler.
  Diffusion(Dynamics dynamics, const Schedule& schedule, const GradientClipOptions& clip, const Ensemble& ensemble);

  /// The numbers of step t. Tests derive from a sampler to make mutants of it.
  virtual DiffusionNumbers numbers(std::int64_t t, double data_size) const = 0;
  /// The dynamics of step t, if it is not always the same.
  virtual Dynamics dynamics(std::int64_t t) const;
  /// Called after every move of sgnht_scalar with Σ r² of each particle.
  virtual void move_thermostats(std::span<const double> momentum_squares) { static_cast<void>(momentum_squares); }

  bool move(Particles<Scalar>& particles, const Batch<Scalar>& batch) override;
  /// One pass of a dynamics over all values and states.
  /// @returns whether all values are finite after it
  bool pass(Dynamics dynamics, const DiffusionNumbers& numbers, Particles<Scalar>& particles);
  /// Throws Error(usage) with one thermostat a particle, which would see the noise of what is held.
  void hold_state(std::int64_t i, std::span<const std::uint8_t> free) override;
  /// The same for derived samplers to write to.
  MatrixView<Scalar> mutable_state(std::size_t k);
  /// Draws state k of every coordinate from N(0, deviation²), or sets it to `value`: how a chain starts.
  void draw_state(std::size_t k, double deviation, const Particles<Scalar>& particles);
  void fill_state(std::size_t k, double value);
  std::vector<Scalar> thermostats_;  ///< [M] of sgnht_scalar

 private:
  Dynamics dynamics_;
  std::array<Matrix<Scalar>, most_states> states_;
  std::vector<double> momentum_squares_;
};

}  // namespace stein::inference
