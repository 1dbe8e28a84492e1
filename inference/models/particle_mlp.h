// The multilayer perceptron of the product, in SIMD. Its reference is torch/particle_mlp_reference.h.
#pragma once

#include <stein/inference/input_gradient.h>
#include <stein/inference/model.h>
#include <stein/inference/models/mlp_spec.h>

#include <memory>

namespace stein::inference {

namespace fused {
struct MlpPlan;
class OneHotColumns;
}  // namespace fused

/// Multilayer perceptron, one particle at a time, in SIMD; rows of its weights are padded to whole vectors of the
/// machine's target.
///
/// A batch of more than 256 rows is split into up to 16 parts whose gradients are added up in order: the same bits at
/// any thread count, and a single network uses all cores.
class ParticleMlp final : public Model<float>, public InputGradient {
 public:
  /// Throws Error(usage) naming what makes no sense in `spec`.
  explicit ParticleMlp(const MlpSpec& spec);
  ~ParticleMlp() override;

  const Layout& layout() const override { return layout_; }
  double initial_value(const LayoutEntry& entry) const override;
  /// A few small ones: the batch is checked and turned over once a call.
  std::int64_t rows_per_call() const override;
  std::int64_t tasks(const Batch<float>& batch) const override;
  std::int64_t output_count() const override;
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      const Evaluation<float>& wanted) override;
  void predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
               MatrixView<float> outputs) override;
  void input_gradient(const ParticleRows<const float>& weights, MatrixView<const float> inputs,
                      std::span<const std::int64_t> classes, MatrixView<float> gradient) override;

 private:
  /// One network on its rows of a batch.
  double score(std::span<const float> weights, const Batch<float>& batch, const fused::OneHotColumns& columns,
               std::span<float> gradient) const;

  Layout layout_;
  std::unique_ptr<const fused::MlpPlan> plan_;
};

}  // namespace stein::inference
