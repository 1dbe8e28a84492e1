// What is believed of the parameters before any data.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/matrix_view.h>

#include <span>

namespace stein::inference {

/// Whether a prior speaks of the network's weights θ (added before the pullback) or of the coordinates φ (added after
/// it).
enum class PriorSpace { weights, coordinates };

/// log p₀ and its gradient.
template <class Scalar>
class Prior {
 public:
  virtual ~Prior() = default;

  virtual PriorSpace space() const { return PriorSpace::coordinates; }
  /// Appends the coordinates that the prior itself brings (log-precisions that are sampled with the rest).
  virtual void extend(Layout& coordinates) const { static_cast<void>(coordinates); }
  /// Puts the prior's own coordinates of one row at their starting values.
  virtual void initialise(std::span<Scalar> row) const { static_cast<void>(row); }
  /// Adds ∇ log p₀ of every row [m, ·] to `gradient`, and log p₀ with its normaliser to `value` [m] unless that is
  /// empty. Calls for different rows may run at the same time.
  virtual void add_gradient(MatrixView<const Scalar> values, MatrixView<Scalar> gradient,
                            std::span<Scalar> value) const = 0;
};

}  // namespace stein::inference
