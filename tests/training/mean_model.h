// The mean of a Gaussian as a model: small enough that every step of a training is a formula.
#pragma once

#include <stein/inference/model.h>

#include <memory>
#include <vector>

namespace stein::test {

/// log p(y | w) = −½ Σ (yₖ − wₖ)², of weights "recurrent0.weight" and "output.weight", K numbers each, which start at
/// 0: y has 2 K numbers. The gradient of the log likelihood of N data is N (ȳ − w).
class MeanModel final : public inference::Model<float> {
 public:
  explicit MeanModel(std::int64_t numbers = 1) {
    layout_.add("recurrent0.weight", {1, numbers}, inference::Role::weight, 0);
    layout_.add("output.weight", {1, numbers}, inference::Role::weight, 1);
  }

  const inference::Layout& layout() const override { return layout_; }
  bool draw_start(std::span<float> weights, std::uint64_t, std::int64_t) const override {
    std::ranges::fill(weights, 0.0F);
    return true;
  }
  void log_likelihood(const inference::ParticleRows<const float>& weights, const inference::Batch<float>& batch,
                      const NoiseKey&, const inference::Evaluation<float>& wanted) override {
    for (std::int64_t m = 0; m < weights.values.rows; ++m) {
      const auto w = weights.values.row(m);
      double value = 0;
      std::vector<double> gradient(w.size());
      for (std::int64_t i = 0; i < batch.rows; ++i)
        for (std::size_t k = 0; k < w.size(); ++k) {
          const double apart = double{batch.targets(i, static_cast<std::int64_t>(k))} - double{w[k]};
          value -= apart * apart / 2;
          gradient[k] += apart;
        }
      if (wanted.wants_value()) wanted.value[static_cast<std::size_t>(m)] = batch.likelihood_scale() * value;
      for (std::size_t k = 0; wanted.wants_gradient() && k < w.size(); ++k)
        wanted.gradient(m, static_cast<std::int64_t>(k)) = static_cast<float>(batch.likelihood_scale() * gradient[k]);
    }
  }
  std::int64_t output_count() const override { return layout_.size(); }
  void predict(const inference::ParticleRows<const float>& weights, const inference::Inputs<float>& inputs,
               inference::MatrixView<float> outputs) override {
    for (std::int64_t i = 0; i < outputs.rows; ++i)
      std::ranges::copy(weights.values.row(i / inputs.rows()), outputs.row(i).begin());
  }

 private:
  inference::Layout layout_;
};

/// One datum out of N.
inline inference::Batch<float> datum(const std::vector<float>& numbers, double data_size) {
  inference::Batch<float> batch;
  const inference::MatrixView<const float> row{numbers.data(), 1, std::ssize(numbers)};
  batch.inputs.dense = row;
  batch.targets = row;
  batch.rows = 1;
  batch.data_size = data_size;
  return batch;
}

}  // namespace stein::test
