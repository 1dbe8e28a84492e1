// A model whose log-likelihoods are seen as they are computed for gradients: how training shows its loss.
#pragma once

#include <stein/inference/models/forwarding_model.h>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::inference {

/// The log-likelihood of a minibatch, which a device may still be making.
class SeenLogLikelihood {
 public:
  SeenLogLikelihood() = default;
  explicit SeenLogLikelihood(double value) : value_(value) {}
  /// @param values  of all rows of weights
  /// @param scale   that they were multiplied with
  SeenLogLikelihood(std::shared_ptr<LateValues> values, double scale) : scale_(scale), late_(std::move(values)) {}

  static double mean(std::span<const double> values, double scale) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()) / scale;
  }
  /// Waits for the device. Throws Error(io) where it could not make it.
  double value() const {
    if (late_) value_ = mean(late_->wait(), scale_), late_.reset();
    return value_;
  }

 private:
  mutable double value_ = 0;
  double scale_ = 1;
  mutable std::shared_ptr<LateValues> late_;
};

/// The model itself, which is asked for the value with every gradient: of a network that costs next to nothing.
template <class Scalar>
class WatchedModel final : public ForwardingModel<Scalar> {
 public:
  explicit WatchedModel(std::unique_ptr<Model<Scalar>> model) : ForwardingModel<Scalar>(std::move(model)) {}

  /// Σ w_i log p(y_i | x_i, θ) of the batch of the last gradient, not scaled by N/n, averaged over the rows of weights
  /// of that call; of a call that sharpens, that at θ.
  double last_log_likelihood() const { return last_.value(); }
  /// The same for whoever asks for the number later.
  const SeenLogLikelihood& last() const { return last_; }

  void log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch, const NoiseKey& noise,
                      const Evaluation<Scalar>& wanted) override {
    if (!wanted.wants_gradient() || batch.score != nullptr)
      return this->model().log_likelihood(weights, batch, noise, wanted);
    const std::int64_t rows = weights.values.rows;
    Evaluation<Scalar> both = wanted;
    if (!wanted.wants_value() && this->model().answers_late()) {
      const auto late = std::make_shared<LateValues>(rows);
      both.late = late.get();
      this->model().log_likelihood(weights, batch, noise, both);
      last_ = {late, batch.likelihood_scale()};
      return;
    }
    values_.resize(static_cast<std::size_t>(rows));
    if (!wanted.wants_value()) both.value = values_;
    this->model().log_likelihood(weights, batch, noise, both);
    last_ = SeenLogLikelihood(SeenLogLikelihood::mean(both.value, batch.likelihood_scale()));
  }

 private:
  std::vector<double> values_;
  SeenLogLikelihood last_;
};

}  // namespace stein::inference
