// The likelihood of a recurrent network in SIMD on all threads.
#pragma once

#include <stein/core/pool.h>
#include <stein/inference/model.h>
#include <stein/inference/models/recurrent_spec.h>

#include <memory>

namespace stein::inference {

class RecurrentPass;

/// The fused form of `make_recurrent_reference` (torch/recurrent_reference.h), which says what inputs, targets and
/// carried state are; laid out as `recurrent_layout` says. Dropout draws from the noise key and the row of weights.
///
/// The same bits at any number of threads. One row of weights is evaluated after the other, each on all cores.
class ParticleRecurrent final : public Model<float> {
 public:
  /// Throws Error(usage) for a spec that makes no sense.
  explicit ParticleRecurrent(const RecurrentSpec& spec);
  ~ParticleRecurrent() override;

  const Layout& layout() const override { return layout_; }
  bool draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const override;
  std::int64_t tasks(const Batch<float>& batch) const override;
  std::int64_t carried_size(const Inputs<float>& inputs) const override;
  /// h of every layer, and of an LSTM c of every layer behind them.
  std::int64_t carried_blocks() const override { return spec_.state_blocks(); }
  std::int64_t output_count() const override { return spec_.outputs(); }
  std::int64_t output_rows(const Inputs<float>& inputs) const override;

  /// @throws Error(usage) for inputs and targets that do not fit the network, and a batch with a score of its own
  void log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey& noise,
                      const Evaluation<float>& wanted) override;
  void predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
               MatrixView<float> outputs) override;
  /// Copies the weights once, in the order of products.
  std::unique_ptr<Predictor<float>> predictor(const ParticleRows<const float>& weights) override;

 private:
  class PackedNetwork;

  /// Throws Error(usage) for inputs and outputs that do not fit.
  void check_prediction(std::int64_t weight_rows, const Inputs<float>& inputs, MatrixView<const float> outputs) const;

  RecurrentSpec spec_;
  Layout layout_;
  Pool<RecurrentPass> passes_;
};

}  // namespace stein::inference
