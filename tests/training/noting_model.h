// A model that notes how much data its minibatches stand for.
#pragma once

#include <stein/inference/model.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace stein::test {

/// Another model, which does the work.
class NotingModel final : public inference::Model<float> {
 public:
  /// n data of N.
  struct Share {
    double count, data;
  };
  /// @param noted  outlives the model
  NotingModel(std::unique_ptr<inference::Model<float>> model, std::vector<Share>& noted)
      : model_(std::move(model)), noted_(noted) {}

  const inference::Layout& layout() const override { return model_->layout(); }
  bool draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const override {
    return model_->draw_start(weights, seed, row);
  }
  std::int64_t carried_size(const inference::Inputs<float>& inputs) const override {
    return model_->carried_size(inputs);
  }
  void log_likelihood(const inference::ParticleRows<const float>& weights, const inference::Batch<float>& batch,
                      const NoiseKey& noise, const inference::Evaluation<float>& wanted) override {
    noted_.push_back({batch.count(), batch.data_size});
    model_->log_likelihood(weights, batch, noise, wanted);
  }
  std::int64_t output_count() const override { return model_->output_count(); }
  std::int64_t output_rows(const inference::Inputs<float>& inputs) const override {
    return model_->output_rows(inputs);
  }
  void predict(const inference::ParticleRows<const float>& weights, const inference::Inputs<float>& inputs,
               inference::MatrixView<float> outputs) override {
    model_->predict(weights, inputs, outputs);
  }

 private:
  std::unique_ptr<inference::Model<float>> model_;
  std::vector<Share>& noted_;
};

}  // namespace stein::test
