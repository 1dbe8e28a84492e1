// The noise of a likelihood that is no coordinate but follows a latent variable.
#pragma once

#include <stein/inference/parameterization.h>
#include <stein/inference/priors/spike_and_slab.h>

#include <memory>

namespace stein::inference {

/// θ = (inner(φ), log_noise_precision = −2 log σ) with the σ that the row's latents have: the likelihood's noise has
/// the variance σ² of a spike-and-slab prior (Deng et al. 2019, eq. 5). φ is that of the inner parameterization; the
/// gradient by the noise precision is left out, since σ moves in `Posterior::adapt` alone.
template <class Scalar>
class CoupledNoise final : public Parameterization<Scalar> {
 public:
  /// @param weights  the model's layout, whose last entry is `log_noise_precision`
  /// @param inner    made for that layout without its last entry (`without_noise_precision`)
  /// @param device   where coordinates and weights lie
  /// @throws Error(usage) unless that is so
  CoupledNoise(Layout weights, std::unique_ptr<Parameterization<Scalar>> inner,
               std::shared_ptr<const SpikeAndSlabLatents> latents, Device device = {});

  const Layout& coordinates() const override { return inner_->coordinates(); }
  const Layout& weights() const override { return weights_; }
  std::int64_t samples() const override { return inner_->samples(); }
  std::unique_ptr<ForwardTrace> make_trace() const override { return inner_->make_trace(); }
  void forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise, MatrixView<Scalar> weights,
               ForwardTrace& trace) const override;
  void pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                ForwardTrace& trace) const override;
  void add_entropy(const ParticleRows<const Scalar>& coordinates, std::span<double> value) const override {
    inner_->add_entropy(coordinates, value);
  }
  std::span<const std::uint8_t> free_coordinates(std::int64_t row) const override {
    return inner_->free_coordinates(row);
  }
  void adapt(const ParticleRows<const Scalar>& coordinates) override { inner_->adapt(coordinates); }
  bool adapts() const override { return inner_->adapts(); }
  void save(Snapshot& snapshot) const override { inner_->save(snapshot); }
  void restore(const Snapshot& snapshot) override { inner_->restore(snapshot); }
  void initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) override {
    inner_->initialise(particles, seed, spread);
  }

 private:
  Layout weights_;
  std::unique_ptr<Parameterization<Scalar>> inner_;
  std::shared_ptr<const SpikeAndSlabLatents> latents_;
  const WeightDriver<Scalar>& driver_;
};

/// `weights` without its last entry, which must be `log_noise_precision`. Throws Error(usage) if it is not.
Layout without_noise_precision(const Layout& weights);

}  // namespace stein::inference
