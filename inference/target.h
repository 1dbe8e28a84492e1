// What a sampler sees: a log density over flat vectors and its gradient, nothing of networks or data.
#pragma once

#include <stein/core/rng.h>
#include <stein/core/snapshot.h>
#include <stein/inference/batch.h>
#include <stein/inference/evaluation.h>
#include <stein/inference/particles.h>

#include <span>

namespace stein::inference {

/// The log of a full joint density up to a constant, and its gradient, for rows of coordinates.
///
/// The gradient is never a mean per datum: likelihood × N/n, prior and KL with weight 1.
template <class Scalar>
class Target {
 public:
  virtual ~Target() = default;

  virtual const Layout& layout() const = 0;
  /// Whether `evaluate` can give the log density itself, not only its gradient.
  virtual bool has_value(const Batch<Scalar>& batch) const {
    return batch.score == nullptr || batch.score->has_value();
  }

  /// Whether `evaluate` may be called for different rows at the same time: then a sampler may move its chains at the
  /// same time.
  virtual bool concurrent() const { return false; }

  /// Writes the log joint and its gradient at every row.
  /// @param coordinates  [m, Q]
  /// @param noise        keys whatever is random inside: dropout, ε; the same key gives the same numbers
  /// @param wanted       gradient [m, Q], overwritten; value [m], only where has_value()
  /// @throws Error(usage) if shapes do not fit
  virtual void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                        const NoiseKey& noise, const Evaluation<Scalar>& wanted) = 0;

  /// Moves latent variables, module buffers and carried state; the only place where they change. A sampler calls it
  /// once after every accepted step, with the particles where the step has put them, and the batch and noise of its
  /// last evaluation. Whoever owns latents counts their adaptations and knows how far one moves them.
  /// @param buffers  [m, B], those of `coordinates`, to be overwritten; empty where the layout has none
  virtual void adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                     MatrixView<Scalar> buffers) {
    static_cast<void>(coordinates), static_cast<void>(noise), static_cast<void>(buffers);
    batch.inputs.carried.accept();
  }

  /// Whether `adapt` moves more than carried state. A sampler waits for its step before it calls such a one; any other
  /// is called while a device still makes the step.
  virtual bool adapts() const { return true; }

  /// Which coordinates of a row, by its global number, are free (1) or held at zero (0); those past its end are free. A
  /// sampler sets those that are held, and whatever it keeps for them (momenta, averages), to zero after every move and
  /// adaptation: neither gradient nor noise moves them.
  virtual std::span<const std::uint8_t> free_coordinates(std::int64_t row) const {
    static_cast<void>(row);
    return {};
  }

  /// Latents and whatever else changes; what `restore` reads back. Whoever owns the target saves it with the particles.
  virtual void save(Snapshot& snapshot) const { static_cast<void>(snapshot); }
  virtual void restore(const Snapshot& snapshot) { static_cast<void>(snapshot); }

 protected:
  /// What `evaluate` promises of its arguments; for its first line. Throws Error(usage) saying what was expected.
  void check_shapes(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                    const Evaluation<Scalar>& wanted) const {
    const std::int64_t rows = coordinates.values.rows, size = layout().size(), buffers = layout().buffer_size();
    STEIN_CHECK(coordinates.values.columns == size, "target: expected rows of {} coordinates, got [{}, {}]", size, rows,
                coordinates.values.columns);
    STEIN_CHECK(!wanted.wants_gradient() || (wanted.gradient.rows == rows && wanted.gradient.columns == size),
                "target: expected gradients [{}, {}], got [{}, {}]", rows, size, wanted.gradient.rows,
                wanted.gradient.columns);
    STEIN_CHECK(!wanted.wants_value() || std::ssize(wanted.value) == rows, "target: expected {} values or none, got {}",
                rows, wanted.value.size());
    STEIN_CHECK(!wanted.wants_value() || has_value(batch), "target: it has a gradient only, no values");
    STEIN_CHECK(
        coordinates.buffers.empty() || (coordinates.buffers.rows == rows && coordinates.buffers.columns == buffers),
        "target: expected buffers [{}, {}], got [{}, {}]", rows, buffers, coordinates.buffers.rows,
        coordinates.buffers.columns);
  }
};

}  // namespace stein::inference
