// A model around another one.
#pragma once

#include <stein/inference/model.h>

#include <memory>
#include <utility>

namespace stein::inference {

/// Passes everything on but `log_likelihood`, which a derived class makes out of that of the model inside. Not
/// concurrent, whatever that is.
template <class Scalar>
class ForwardingModel : public Model<Scalar> {
 public:
  explicit ForwardingModel(std::unique_ptr<Model<Scalar>> model) : model_(std::move(model)) {}

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
  std::int64_t carried_blocks() const override { return model_->carried_blocks(); }
  std::int64_t output_count() const override { return model_->output_count(); }
  std::int64_t output_rows(const Inputs<Scalar>& inputs) const override { return model_->output_rows(inputs); }

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

 protected:
  Model<Scalar>& model() { return *model_; }
  const Model<Scalar>& model() const { return *model_; }

 private:
  std::unique_ptr<Model<Scalar>> model_;
};

}  // namespace stein::inference
