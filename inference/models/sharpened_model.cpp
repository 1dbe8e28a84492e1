#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <algorithm>

namespace stein::inference {
namespace {

/// Rows [m, P] of this call.
template <class Scalar>
struct Rows {
  Rows(std::int64_t rows, std::int64_t size)
      : memory(static_cast<std::size_t>(rows * size)), rows_(rows), size_(size) {}
  MatrixView<Scalar> view() { return {memory.data(), rows_, size_}; }

 private:
  AlignedBuffer<Scalar> memory;
  std::int64_t rows_, size_;
};

}  // namespace

template <class Scalar>
SharpenedModel<Scalar>::SharpenedModel(std::unique_ptr<Model<Scalar>> model, const SharpeningOptions& options)
    : model_(std::move(model)), options_(checked(options)), layout_(model_->layout()) {
  std::uint64_t index = 0;
  for (const LayoutEntry& entry : model_->layout().entries()) {
    if (entry.role == Role::weight || entry.role == Role::bias) {
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
                                            const NoiseKey& noise, MatrixView<Scalar> gradient,
                                            std::span<Scalar> value) {
  const std::int64_t rows = weights.values.rows, size = model_->layout().size();
  const double repeats = batch.data_size / static_cast<double>(batch.rows);
  const auto to_minibatch = static_cast<Scalar>(1 / repeats);
  const auto precision = static_cast<Scalar>(1 / (options_.sharpening_deviation * options_.sharpening_deviation));
  const auto deviation = static_cast<Scalar>(options_.sharpening_deviation);
  const NoiseKey key{.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization};

  Rows<Scalar> slope_memory(rows, size), sharp_memory(rows, size);
  const MatrixView<Scalar> slope = slope_memory.view(), sharp = sharp_memory.view();
  model_->log_likelihood(inner(weights), batch, noise, slope, {});  // −(N/n) g_φ
  for (std::int64_t i = 0; i < rows; ++i) {
    std::ranges::copy(weights.values.row(i).first(static_cast<std::size_t>(size)), sharp.row(i).begin());
    const auto row = static_cast<std::uint32_t>(weights.first_row + i);
    for_each_weight([&](std::int64_t j, std::int64_t rate, std::uint64_t index) {
      sharp(i, j) +=
          weights.values(i, rate) * slope(i, j) * to_minibatch + deviation * normal_at<Scalar>(key, row, index);
    });
  }
  std::vector<Scalar> score(value.size());
  MatrixView<Scalar> sharp_gradient = gradient;
  sharp_gradient.columns = size;
  model_->log_likelihood({sharp, weights.first_row, weights.buffers}, batch, noise, sharp_gradient, score);

  // With G = −g_φ and s the gradient at θ: ∇η = s G − (N/n) η G²/σ₀², and what ∇φ has through G is H v, with
  // v = η s − (N/n) η² G/σ₀² and H the Hessian of the minibatch.
  std::vector<double> divergence(static_cast<std::size_t>(rows));
  const bool exact = options_.gradient == SharpeningGradient::exact;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::ranges::fill(gradient.row(i).subspan(static_cast<std::size_t>(size)), Scalar{0});
    if (exact) std::ranges::fill(sharp.row(i), Scalar{0});
    for_each_weight([&](std::int64_t j, std::int64_t rate, std::uint64_t) {
      const Scalar eta = weights.values(i, rate), ascent = slope(i, j) * to_minibatch;
      const Scalar pull = slope(i, j) * eta * precision;
      gradient(i, rate) = gradient(i, j) * ascent - pull * ascent;
      divergence[i] += static_cast<double>(pull) * static_cast<double>(eta * ascent) / 2;
      if (exact) sharp(i, j) = (eta * gradient(i, j) - eta * pull) * to_minibatch;
    });
  }
  if (exact) {
    model_->hessian_product(inner(weights), batch, noise, sharp, slope);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < size; ++j) gradient(i, j) += slope(i, j);
  }
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<Scalar>(score[i] - divergence[i]);
  if (options_.objective == SharpeningObjective::full_joint) return;
  const auto share = static_cast<Scalar>(1 / options_.minibatches);
  for (Scalar& v : value) v *= share;
  for (std::int64_t i = 0; i < rows; ++i)
    for (Scalar& g : gradient.row(i)) g *= share;
}

template <class Scalar>
void SharpenedModel<Scalar>::bound(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                   const NoiseKey& noise, std::span<Scalar> value) {
  Batch<Scalar> alone = batch;
  alone.data_size = static_cast<double>(batch.rows);
  Rows<Scalar> gradient(weights.values.rows, layout_.size());
  log_likelihood(weights, alone, noise, gradient.view(), value);
  if (options_.objective == SharpeningObjective::as_published)
    for (Scalar& v : value) v *= static_cast<Scalar>(options_.minibatches);
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
