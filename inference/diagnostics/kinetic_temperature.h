// At which temperature the momenta of a sampler really are, layer by layer.
#pragma once

#include <stein/core/error.h>
#include <stein/inference/diagnostics/layer_temperature.h>
#include <stein/inference/samplers/diffusion.h>

namespace stein::inference {

/// c ⟨r²⟩ = T for every layer in equilibrium, with the c of `Diffusion::kinetic_scale`. Without minibatch noise it says
/// whether friction and injected noise balance; with it, how much hotter minibatches make the chain than was asked for.
///
/// SGHMC at a step that is not small reads high: T (2 − α)/(2 − α − b/2) on a Gaussian, b = η k.
class KineticTemperature : public LayerTemperature {
 public:
  explicit KineticTemperature(const Layout& layout) : LayerTemperature(layout, "kinetic temperature") {}

  /// Adds the momenta that the sampler's last step has left, all particles together; those of coordinates that `target`
  /// holds at zero do not count.
  /// @param first_row  global number of the sampler's first particle
  /// @throws Error(usage) if it has none, or has taken no step
  template <class Scalar>
  void add(const Diffusion<Scalar>& sampler, const Target<Scalar>& target, std::int64_t first_row = 0) {
    STEIN_CHECK(sampler.steps() > 0, "kinetic temperature: {} has taken no step yet", sampler.name());
    const double scale = sampler.kinetic_scale();
    STEIN_CHECK(scale > 0, "kinetic temperature: {} has no momentum whose square has a known mean", sampler.name());
    add_products(sampler.state(0), sampler.state(0), scale, target, first_row, Device{});
  }
};

}  // namespace stein::inference
