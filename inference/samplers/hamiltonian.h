// Positions and momenta under H = −log p(φ) + rᵀ M⁻¹ r/2: what HMC and NUTS move.
#pragma once

#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/target.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace stein::inference {

/// Position, momentum and gradient of one chain, and its log density.
template <class Scalar>
struct PhasePoint {
  std::vector<Scalar> position, momentum, gradient;
  double log_density = 0;

  explicit PhasePoint(std::int64_t size)
      : position(static_cast<std::size_t>(size)), momentum(position), gradient(position) {}
};

/// Where a target that is not on the host is asked for the density at a phase point, which is: the position goes there
/// and the gradient comes back, 2 Q numbers beside a pass over all data.
template <class Scalar>
struct PlaceOfTarget {
  Matrix<Scalar> position, gradient;  ///< [1, Q] on the device

  PlaceOfTarget(std::int64_t size, Device device) : position(1, size, device), gradient(1, size, device) {}
};

/// Moves phase points of one chain by leapfrog steps; M is diagonal.
template <class Scalar>
class Hamiltonian {
 public:
  /// @param row               the chain's global row: it keys the noise
  /// @param inverse_mass      [Q] M⁻¹, variances of the posterior where M fits it
  /// @param place             where the target looks; null: at the points themselves
  Hamiltonian(Target<Scalar>& target, const Batch<Scalar>& batch, const NoiseKey& noise, std::int64_t row,
              std::span<const Scalar> inverse_mass, MatrixView<const Scalar> buffers,
              PlaceOfTarget<Scalar>* place = nullptr)
      : target_(target),
        batch_(batch),
        noise_(noise),
        row_(row),
        inverse_mass_(inverse_mass),
        buffers_(buffers),
        place_(place) {}

  std::span<const Scalar> inverse_mass() const { return inverse_mass_; }

  /// Log density and gradient at the position; −∞ where the density is no number.
  void evaluate(PhasePoint<Scalar>& point) const {
    const auto size = static_cast<std::int64_t>(point.position.size());
    double value;
    if (place_ == nullptr) {
      value = value_at({point.position.data(), 1, size}, {point.gradient.data(), 1, size});
    } else {
      const Device device = place_->position.device();
      copy_there<Scalar>(point.position, place_->position.row(0), device);
      value = value_at(place_->position.view(), place_->gradient.view());
      copy_home<Scalar>(place_->gradient.row(0), point.gradient, device);
    }
    point.log_density = std::isnan(value) ? -INFINITY : value;
  }
  /// r ← N(0, M).
  template <class Normal>
  void draw_momentum(PhasePoint<Scalar>& point, const Normal& normal) const {
    for (std::size_t q = 0; q < point.momentum.size(); ++q)
      point.momentum[q] = static_cast<Scalar>(normal() / std::sqrt(static_cast<double>(inverse_mass_[q])));
  }
  /// One leapfrog step of length `step`, which may be negative; asks for one gradient. Where the target says that there
  /// is none, the log density is −∞: the trajectory has left the region where it is any good.
  void leapfrog(PhasePoint<Scalar>& point, double step) const {
    const auto half = static_cast<Scalar>(step / 2), whole = static_cast<Scalar>(step);
    const std::size_t size = point.position.size();
    for (std::size_t q = 0; q < size; ++q) {
      point.momentum[q] += half * point.gradient[q];
      point.position[q] += whole * inverse_mass_[q] * point.momentum[q];
    }
    try {
      evaluate(point);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      point.log_density = -INFINITY;
      std::ranges::fill(point.gradient, Scalar{0});
    }
    for (std::size_t q = 0; q < size; ++q) point.momentum[q] += half * point.gradient[q];
  }
  /// log of the joint density: −H, −∞ where it is no number.
  double log_joint(const PhasePoint<Scalar>& point) const {
    double kinetic = 0;
    for (std::size_t q = 0; q < point.momentum.size(); ++q)
      kinetic += static_cast<double>(point.momentum[q] * inverse_mass_[q] * point.momentum[q]);
    const double joint = point.log_density - kinetic / 2;
    return std::isnan(joint) ? -INFINITY : joint;
  }

 private:
  double value_at(MatrixView<const Scalar> position, MatrixView<Scalar> gradient) const {
    double value = 0;
    target_.evaluate({position, row_, buffers_}, batch_, noise_, {.gradient = gradient, .value = {&value, 1}});
    return value;
  }

  Target<Scalar>& target_;
  const Batch<Scalar>& batch_;
  NoiseKey noise_;
  std::int64_t row_;
  std::span<const Scalar> inverse_mass_;
  MatrixView<const Scalar> buffers_;
  PlaceOfTarget<Scalar>* place_;
};

}  // namespace stein::inference
