// The perceptron on LibTorch autograd: the reference of the fused one, in its tests and in speed.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/models/mlp_spec.h>

#include <string>

namespace stein::inference {

/// Log-likelihood of a multilayer perceptron for all particles at once: one batched matrix product a layer
/// ([M, n, in] × [M, in, out]), gradients by LibTorch autograd.
///
/// The layout is `mlp_layout(spec)` without padding. Noise keys are not used: nothing in it is random.
template <class Scalar>
class ParticleMlpReference final : public Model<Scalar> {
 public:
  /// @param device  where LibTorch computes: "cpu", "cuda", "cuda:1"; weights and gradients stay in host memory
  /// @throws Error(usage) if the spec makes no sense or the device is not there
  explicit ParticleMlpReference(MlpSpec spec, std::string device = "cpu");

  const MlpSpec& spec() const { return spec_; }
  const Layout& layout() const override { return layout_; }
  double initial_value(const LayoutEntry& entry) const override;
  std::int64_t rows_per_call() const override { return 0; }
  std::int64_t output_count() const override { return spec_.outputs; }

  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override;
  void predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
               MatrixView<Scalar> outputs) override;

 private:
  MlpSpec spec_;
  std::string device_;
  Layout layout_;
};

extern template class ParticleMlpReference<float>;
extern template class ParticleMlpReference<double>;

}  // namespace stein::inference
