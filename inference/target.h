// What a sampler sees: a log density over flat vectors and its gradient, nothing of networks or data.
#pragma once

#include <stein/core/rng.h>
#include <stein/core/snapshot.h>
#include <stein/inference/batch.h>
#include <stein/inference/particles.h>

#include <cmath>
#include <span>

namespace stein::inference {

/// ω of adaptation t = 0, 1, …: (t + 1)^−0.7, so that latents forget where they started and still settle (Σ ω = ∞ and
/// Σ ω² < ∞: Robbins & Monro 1951).
inline double adaptation_weight(std::int64_t t) {
  return std::pow(static_cast<double>(t + 1), -0.7);
}

/// The log of a full joint density up to a constant, and its gradient, for rows of coordinates.
///
/// The gradient is never a mean per datum: likelihood × N/n, prior and KL with weight 1.
template <class Scalar>
class Target {
 public:
  virtual ~Target() = default;

  virtual const Layout& layout() const = 0;
  /// Whether `evaluate` can give the log density itself, not only its gradient.
  virtual bool has_value() const { return true; }

  /// Writes the gradient of the log joint at every row.
  /// @param coordinates  [m, Q]
  /// @param noise        keys whatever is random inside: dropout, ε, rollouts; the same key gives the same numbers
  /// @param gradient     [m, Q], overwritten
  /// @param value        [m] log joint, or empty if not wanted; must be empty unless has_value()
  /// @throws Error(usage) if shapes do not fit
  virtual void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                        const NoiseKey& noise, MatrixView<Scalar> gradient, std::span<Scalar> value) = 0;

  /// Moves latent variables and module buffers; the only place where they change. A sampler calls it once after every
  /// accepted step, with the particles where the step has put them, and the noise of its last evaluation.
  /// @param buffers  [m, B], those of `coordinates`, to be overwritten; empty where the layout has none
  /// @param weight   ω in [0, 1], the step of the stochastic approximation (see `adaptation_weight`)
  virtual void adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                     MatrixView<Scalar> buffers, double weight) {
    static_cast<void>(coordinates), static_cast<void>(batch), static_cast<void>(noise);
    static_cast<void>(buffers), static_cast<void>(weight);
  }

  /// Latents and whatever else changes; what `restore` reads back. Whoever owns the target saves it with the particles.
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }
};

}  // namespace stein::inference
