// The map from what a sampler moves (coordinates φ) to the weights of a network (θ), and its transpose on gradients.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/layout.h>
#include <stein/inference/particles.h>

#include <memory>
#include <span>

namespace stein::inference {

/// What `Parameterization::forward` leaves for `pullback`. Memory that is used again: it grows with the rows of a call.
class ForwardTrace {
 public:
  virtual ~ForwardTrace() = default;
};

/// φ → θ, row by row. A stochastic one maps each row to `samples()` rows of weights, regenerates the same noise in its
/// pullback from the same key, and owns its entropy.
///
/// Keeps nothing of a call: calls may run at the same time, each with a trace of its own.
template <class Scalar>
class Parameterization {
 public:
  virtual ~Parameterization() = default;

  virtual const Layout& coordinates() const = 0;
  virtual const Layout& weights() const = 0;
  /// S: rows of weights for each row of coordinates.
  virtual std::int64_t samples() const { return 1; }

  /// Whether a row of weights is the row of coordinates itself, number by number: then neither `forward` nor `pullback`
  /// need be called.
  virtual bool passes_through() const { return false; }

  virtual std::unique_ptr<ForwardTrace> make_trace() const { return std::make_unique<ForwardTrace>(); }
  /// Writes the weights [m·S, P] of the coordinates [m, Q], padding included.
  /// @param trace  made by this parameterization
  virtual void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
                       ForwardTrace& trace) const = 0;
  /// Writes ∇φ [m, Q] from ∇θ [m·S, P]; with it, where φ describes a distribution, the gradient of its entropy.
  /// @param trace  of the last `forward`, which had the same coordinates and noise
  virtual void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                        MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                        ForwardTrace& trace) const = 0;
  /// Adds the entropy of the distribution that φ describes to `value` [m].
  virtual void add_entropy(const ParticleRows<const Scalar>& coordinates, std::span<double> value) const {
    static_cast<void>(coordinates), static_cast<void>(value);
  }

  /// Which coordinates of a row, by its global number, are free (1) or held at zero (0); those past its end are free.
  virtual std::span<const std::uint8_t> free_coordinates(std::int64_t row) const {
    static_cast<void>(row);
    return {};
  }
  /// Moves what decides that; called once after every accepted step (see Target::adapt).
  virtual void adapt(const ParticleRows<const Scalar>& coordinates) { static_cast<void>(coordinates); }
  /// Whether that moves anything: whoever overrides the one overrides the other.
  virtual bool adapts() const { return false; }
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }

  /// Draws starting coordinates such that every weight matrix starts with independent N(0, spread² / inputs) entries.
  virtual void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) = 0;
};

}  // namespace stein::inference
