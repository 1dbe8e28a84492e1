#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>

namespace stein::inference {

template <class Scalar>
SharpenedModel<Scalar>::SharpenedModel(std::unique_ptr<Model<Scalar>> model, const SharpeningOptions& options)
    : model_(std::move(model)), options_(checked(options)), layout_(model_->layout()) {
  std::uint64_t index = 0;
  for (const LayoutEntry& entry : model_->layout().entries()) {
    if (entry.is_weight()) {
      const LayoutEntry& rate =
          layout_.add(entry.name + ".rate", entry.shape, Role::rate, entry.layer, entry.row_stride);
      sharpened_.push_back({entry, rate.offset, index});
    }
    index += static_cast<std::uint64_t>(entry.size());
  }
  // The sheet of the parameterization has φ's noise at the unpadded indices of this layout; θ's lies behind.
  for (Sharpened& part : sharpened_) part.first_noise += static_cast<std::uint64_t>(layout_.coordinate_count());
}

template <class Scalar>
double SharpenedModel<Scalar>::initial_value(const LayoutEntry& entry) const {
  return entry.role == Role::rate ? options_.initial_rate : model_->initial_value(entry);
}

template <class Scalar>
ParticleRows<const Scalar> SharpenedModel<Scalar>::inner(const ParticleRows<const Scalar>& weights) const {
  ParticleRows<const Scalar> rows = weights;
  rows.values.columns = model_->layout().size();
  return rows;
}

/// visit(place of a weight, place of its rate, index of its noise) for every weight.
template <class Scalar>
template <class Visit>
void SharpenedModel<Scalar>::for_each_weight(const Visit& visit) const {
  for (const auto& [weight, rate, first_noise] : sharpened_)
    for (std::int64_t r = 0; r < weight.rows(); ++r)
      for (std::int64_t c = 0; c < weight.columns(); ++c)
        visit(weight.offset + r * weight.row_stride + c, rate + r * weight.row_stride + c,
              first_noise + static_cast<std::uint64_t>(r * weight.columns() + c));
}

template <class Scalar>
void SharpenedModel<Scalar>::log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                            const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const std::int64_t rows = weights.values.rows, size = model_->layout().size();
  const auto to_minibatch = static_cast<Scalar>(1 / batch.likelihood_scale());
  const auto precision = static_cast<Scalar>(1 / (options_.sharpening_deviation * options_.sharpening_deviation));
  const auto deviation = static_cast<Scalar>(options_.sharpening_deviation);
  const NoiseKey key{.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization};

  Matrix<Scalar> slope_memory(rows, size), sharp_memory(rows, size);
  const MatrixView<Scalar> slope = slope_memory.view(), sharp = sharp_memory.view();
  model_->log_likelihood(inner(weights), batch, noise, {.gradient = slope});  // −(N/n) g_φ
  for (std::int64_t i = 0; i < rows; ++i) {
    std::ranges::copy(weights.values.row(i).first(static_cast<std::size_t>(size)), sharp.row(i).begin());
    const auto row = static_cast<std::uint32_t>(weights.first_row + i);
    for_each_weight([&](std::int64_t j, std::int64_t rate, std::uint64_t index) {
      sharp(i, j) +=
          weights.values(i, rate) * slope(i, j) * to_minibatch + deviation * normal_at<Scalar>(key, row, index);
    });
  }
  std::vector<double> score(wanted.value.size());
  MatrixView<Scalar> gradient = wanted.gradient;
  gradient.columns = size;
  Evaluation<Scalar> at_theta{.value = score};
  if (wanted.wants_gradient()) at_theta.gradient = gradient;
  model_->log_likelihood({sharp, weights.first_row, weights.buffers}, batch, noise, at_theta);

  // With G = −g_φ and s the gradient at θ: ∇η = s G − (N/n) η G²/σ₀², and what ∇φ has through G is H v, with
  // v = η s − (N/n) η² G/σ₀² and H the Hessian of the minibatch.
  gradient = wanted.gradient;
  const bool with_gradient = wanted.wants_gradient();
  const bool exact = with_gradient && options_.gradient == SharpeningGradient::exact;
  std::vector<double> divergence(static_cast<std::size_t>(rows));
  for (std::int64_t i = 0; i < rows; ++i) {
    if (with_gradient) std::ranges::fill(gradient.row(i).subspan(static_cast<std::size_t>(size)), Scalar{0});
    if (exact) std::ranges::fill(sharp.row(i), Scalar{0});
    for_each_weight([&](std::int64_t j, std::int64_t rate, std::uint64_t) {
      const Scalar eta = weights.values(i, rate), ascent = slope(i, j) * to_minibatch;
      const Scalar pull = slope(i, j) * eta * precision;
      divergence[i] += static_cast<double>(pull) * static_cast<double>(eta * ascent) / 2;
      if (with_gradient) gradient(i, rate) = gradient(i, j) * ascent - pull * ascent;
      if (exact) sharp(i, j) = (eta * gradient(i, j) - eta * pull) * to_minibatch;
    });
  }
  if (exact) {
    model_->hessian_product(inner(weights), batch, noise, sharp, slope);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < size; ++j) gradient(i, j) += slope(i, j);
  }
  for (std::size_t i = 0; i < score.size(); ++i) wanted.value[i] = score[i] - divergence[i];
  if (options_.objective == SharpeningObjective::full_joint) return;
  const double share = 1 / options_.minibatches;
  for (double& v : wanted.value) v *= share;
  for (std::int64_t i = 0; with_gradient && i < rows; ++i)
    for (Scalar& g : gradient.row(i)) g *= static_cast<Scalar>(share);
}

template <class Scalar>
void SharpenedModel<Scalar>::bound(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                   const NoiseKey& noise, std::span<double> value) {
  Batch<Scalar> alone = batch;
  alone.data_size = batch.count();
  log_likelihood(weights, alone, noise, {.value = value});
  if (options_.objective == SharpeningObjective::as_published)
    for (double& v : value) v *= options_.minibatches;
}

template <class Scalar>
void SharpenedModel<Scalar>::adapt(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                   const NoiseKey& noise, MatrixView<Scalar> buffers) {
  model_->adapt(inner(weights), batch, noise, buffers);
}

template <class Scalar>
void SharpenedModel<Scalar>::predict(const ParticleRows<const Scalar>& weights, const Inputs<Scalar>& inputs,
                                     MatrixView<Scalar> outputs) {
  model_->predict(inner(weights), inputs, outputs);
}

template class SharpenedModel<float>;
template class SharpenedModel<double>;

}  // namespace stein::inference
