// A model whose log-likelihoods are seen as they are computed for gradients: how training shows its loss.
#pragma once

#include <stein/inference/model.h>

#include <memory>
#include <numeric>
#include <vector>

namespace stein::inference {

/// The model itself, which is asked for the value with every gradient: of a network that costs next to nothing.
template <class Scalar>
class WatchedModel final : public Model<Scalar> {
 public:
  explicit WatchedModel(std::unique_ptr<Model<Scalar>> model) : model_(std::move(model)) {}

  /// Σ w_i log p(y_i | x_i, θ) of the batch of the last gradient, not scaled by N/n, averaged over the rows of weights
  /// of that call; of a call that sharpens, that at θ.
  double last_log_likelihood() const { return last_; }

  const Layout& layout() const override { return model_->layout(); }
  double initial_value(const LayoutEntry& entry) const override { return model_->initial_value(entry); }
  void initialise_buffers(std::span<Scalar> row) const override { model_->initialise_buffers(row); }
  bool draw_start(std::span<Scalar> weights, std::uint64_t seed, std::int64_t row) const override {
    return model_->draw_start(weights, seed, row);
  }
  Device device() const override { return model_->device(); }
  std::int64_t rows_per_call() const override { return model_->rows_per_call(); }
  bool concurrent() const override { return false; }
  std::int64_t tasks(const Batch<Scalar>& batch) const override { return model_->tasks(batch); }
  std::int64_t carried_size(const Inputs<Scalar>& inputs) const override { return model_->carried_size(inputs); }
  std::int64_t output_count() const override { return model_->output_count(); }
  std::int64_t output_rows(const Inputs<Scalar>& inputs) const override { return model_->output_rows(inputs); }

  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override {
    if (!wanted.wants_gradient() || batch.score != nullptr)
      return model_->log_likelihood(weights, batch, noise, wanted);
    Evaluation<Scalar> both = wanted;
    values_.resize(static_cast<std::size_t>(weights.values.rows));
    if (!wanted.wants_value()) both.value = values_;
    model_->log_likelihood(weights, batch, noise, both);
    last_ = std::accumulate(both.value.begin(), both.value.end(), 0.0) / static_cast<double>(both.value.size()) /
            batch.likelihood_scale();
  }
  void hessian_product(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                       MatrixView<const Scalar> vectors, MatrixView<Scalar> product) override {
    model_->hessian_product(weights, batch, noise, vectors, product);
  }
  void adapt(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
             MatrixView<Scalar> buffers) override {
    model_->adapt(weights, batch, noise, buffers);
  }
  void predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
               MatrixView<Scalar> outputs) override {
    model_->predict(weights, inputs, outputs);
  }
  std::unique_ptr<Predictor<Scalar>> predictor(const ParticleRows<const Scalar>& weights) override {
    return model_->predictor(weights);
  }

 private:
  std::unique_ptr<Model<Scalar>> model_;
  std::vector<double> values_;
  double last_ = 0;
};

}  // namespace stein::inference
