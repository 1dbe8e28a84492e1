// At which temperature the positions of a sampler really are, layer by layer.
#pragma once

#include <stein/inference/diagnostics/layer_temperature.h>

namespace stein::inference {

/// ⟨φ·∇U⟩/Q = T for every layer in equilibrium at temperature T (the virial theorem; Leimkuhler & Matthews 2015,
/// section 6.1.5), whatever the density is. Noise in the gradient that does not depend on φ changes nothing of the
/// mean.
class ConfigurationalTemperature : public LayerTemperature {
 public:
  explicit ConfigurationalTemperature(const Layout& layout) : LayerTemperature(layout, "temperature") {}

  /// Adds positions and the gradients ∇ log p at them, [m, Q] each, all particles of one step together. Q counts the
  /// coordinates that `target` leaves free. @param device  where positions and gradients lie
  template <class Scalar>
  void add(const ParticleRows<const Scalar>& positions, MatrixView<const Scalar> gradients,
           const Target<Scalar>& target, Device device = {}) {
    add_products(positions.values, gradients, -1, target, positions.first_row, device);
  }
};

}  // namespace stein::inference
