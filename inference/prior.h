// What is believed of the parameters before any data.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/evaluation.h>
#include <stein/inference/particles.h>
#include <stein/inference/priors/residuals.h>

#include <functional>
#include <span>

namespace stein::inference {

/// Whether a prior speaks of the network's weights θ (added before the pullback) or of the coordinates φ (added after
/// it).
enum class PriorSpace { weights, coordinates };

/// log p₀ and its gradient, and the latent variables on which they may depend, one set for every row of an ensemble.
///
/// Latents stand still but for `adapt`. Calls for different rows may run at the same time.
template <class Scalar>
class Prior {
 public:
  virtual ~Prior() = default;

  virtual PriorSpace space() const { return PriorSpace::coordinates; }
  /// Appends the coordinates that the prior itself brings (log-precisions that are sampled with the rest) and remembers
  /// where they are; called once, before anything else.
  virtual void extend(Layout& coordinates) { static_cast<void>(coordinates); }
  /// Puts the prior's own coordinates of one row at their starting values.
  virtual void initialise(std::span<Scalar> row) const { static_cast<void>(row); }
  /// Adds log p₀ of every row, with its normaliser, to the value and its gradient to the gradient, where wanted.
  /// @param rows  weights or coordinates [m, ·], as `space` says; `first_row` says whose latents count
  virtual void add_log_density(const ParticleRows<const Scalar>& rows, const Evaluation<Scalar>& wanted) const = 0;

  /// Shown the coordinates [m, Q] of every gradient that is asked for: latents may depend on where a step began.
  virtual void observe(const ParticleRows<const Scalar>& coordinates) { static_cast<void>(coordinates); }
  /// Moves the latents of these rows; called once after every accepted step (see Target::adapt).
  /// @param coordinates  [m, Q] where the step has put the rows
  /// @param residuals    those of row i = 0 … m − 1 on the batch; computed when asked for
  virtual void adapt(const ParticleRows<const Scalar>& coordinates,
                     const std::function<Residuals(std::int64_t)>& residuals) {
    static_cast<void>(coordinates), static_cast<void>(residuals);
  }

  /// Whether `adapt` moves anything: whoever overrides the one overrides the other.
  virtual bool adapts() const { return false; }

  /// The latents of all rows and the count of their adaptations; what `restore` reads back.
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }
};

}  // namespace stein::inference
