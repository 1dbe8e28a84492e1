// A model whose log-likelihoods are seen as they are computed for gradients: how training shows its loss.
#pragma once

#include <stein/inference/models/forwarding_model.h>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::inference {

/// The model itself, which is asked for the value with every gradient: of a network that costs next to nothing.
template <class Scalar>
class WatchedModel final : public ForwardingModel<Scalar> {
 public:
  explicit WatchedModel(std::unique_ptr<Model<Scalar>> model) : ForwardingModel<Scalar>(std::move(model)) {}

  /// Σ w_i log p(y_i | x_i, θ) of the batch of the last gradient, not scaled by N/n, averaged over the rows of weights
  /// of that call; of a call that sharpens, that at θ.
  double last_log_likelihood() const { return last_; }

  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override {
    if (!wanted.wants_gradient() || batch.score != nullptr)
      return this->model().log_likelihood(weights, batch, noise, wanted);
    Evaluation<Scalar> both = wanted;
    values_.resize(static_cast<std::size_t>(weights.values.rows));
    if (!wanted.wants_value()) both.value = values_;
    this->model().log_likelihood(weights, batch, noise, both);
    last_ = std::accumulate(both.value.begin(), both.value.end(), 0.0) / static_cast<double>(both.value.size()) /
            batch.likelihood_scale();
  }

 private:
  std::vector<double> values_;
  double last_ = 0;
};

}  // namespace stein::inference
