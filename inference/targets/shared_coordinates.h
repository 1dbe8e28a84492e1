// Particles that have some of their coordinates in common.
#pragma once

#include <stein/inference/targets/forwarding_target.h>

#include <functional>
#include <vector>

namespace stein::inference {

/// Another target, of which some coordinates are one set of numbers for all particles: a point estimate, beside which
/// the particles are of the posterior of all other coordinates given it. In the shared coordinates every particle has
/// the mean gradient of all, and after a step `share` puts particles at their mean there. A sampler that moves every
/// row along its own gradient thus climbs the mean of the log densities in them. SVGD sees no distance between
/// particles in them and repels nothing there; it multiplies their gradient with Σ_j k(x_j, x_i)/M.
template <class Scalar>
class SharedCoordinates final : public ForwardingTarget<Scalar> {
 public:
  /// @param target     whose evaluations take all particles at once; must outlive this
  /// @param is_shared  of the entries of its layout
  SharedCoordinates(Target<Scalar>& target, const std::function<bool(const LayoutEntry&)>& is_shared)
      : ForwardingTarget<Scalar>(target) {
    for (const LayoutEntry& entry : target.layout().entries())
      if (is_shared(entry)) shared_.push_back({entry.offset, entry.extent()});
  }

  /// Puts all rows [M, Q] at the first of them in the shared coordinates.
  void start(MatrixView<Scalar> rows) const {
    for (const auto& [offset, size] : shared_)
      for (std::int64_t q = offset; q < offset + size; ++q)
        for (std::int64_t i = 1; i < rows.rows; ++i) rows(i, q) = rows(0, q);
  }
  /// Puts all rows [M, Q] at their mean in the shared coordinates; rows that agree keep their bits.
  void share(MatrixView<Scalar> rows) const {
    for (const auto& [offset, size] : shared_)
      for (std::int64_t q = offset; q < offset + size; ++q) {
        const double first = rows(0, q);
        double sum = 0;  // of differences: 0 where rows agree
        for (std::int64_t i = 1; i < rows.rows; ++i) sum += double{rows(i, q)} - first;
        const auto mean = static_cast<Scalar>(first + sum / static_cast<double>(rows.rows));
        for (std::int64_t i = 0; i < rows.rows; ++i) rows(i, q) = mean;
      }
  }

  void evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch, const NoiseKey& noise,
                const Evaluation<Scalar>& wanted) override {
    this->target().evaluate(coordinates, batch, noise, wanted);
    if (wanted.wants_gradient()) share(wanted.gradient);
  }

 private:
  struct Columns {
    std::int64_t offset, size;
  };
  std::vector<Columns> shared_;
};

}  // namespace stein::inference
