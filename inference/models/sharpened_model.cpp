#include <stein/core/parallel.h>
#include <stein/inference/models/sharpened_model.h>

#include <algorithm>
#include <numeric>

namespace stein::inference {

template <class Scalar>
SharpenedModel<Scalar>::SharpenedModel(std::unique_ptr<Model<Scalar>> model, const SharpeningOptions& options)
    : model_(std::move(model)), options_(checked(options)), layout_(model_->layout()), parts_{0} {
  STEIN_CHECK(options.minibatches >= 1, "sharpening: minibatches must be at least 1, got {}", options.minibatches);
  constexpr std::int64_t most = 16384;  // weights of a part
  std::uint64_t noise = 0;
  std::int64_t in_part = 0;
  const auto add_stretch = [&](const Stretch& stretch) {
    if (in_part > 0 && in_part + stretch.count > most) {
      parts_.push_back(stretches_.size());
      in_part = 0;
    }
    stretches_.push_back(stretch);
    in_part += stretch.count;
  };
  for (const LayoutEntry& weight : model_->layout().entries()) {
    if (weight.is_weight()) {
      const LayoutEntry& rate =
          layout_.add(weight.name + ".rate", weight.shape, Role::rate, weight.layer, weight.row_stride);
      const bool end_to_end = weight.row_stride == weight.columns();
      const std::int64_t columns = end_to_end ? weight.size() : weight.columns(), rows = weight.size() / columns;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; c += most) {
          const std::int64_t place = r * weight.row_stride + c;
          add_stretch({weight.offset + place, rate.offset + place, std::min(most, columns - c),
                       noise + static_cast<std::uint64_t>(r * columns + c)});
        }
    }
    noise += static_cast<std::uint64_t>(weight.size());
  }
  parts_.push_back(stretches_.size());
  // The sheet of the parameterization has φ's noise at the unpadded indices of this layout; θ's lies behind.
  for (Stretch& stretch : stretches_) stretch.noise += static_cast<std::uint64_t>(layout_.coordinate_count());
}

template <class Scalar>
double SharpenedModel<Scalar>::initial_value(const LayoutEntry& entry) const {
  return entry.role == Role::rate ? options_.initial_rate / options_.rate_scale : model_->initial_value(entry);
}

template <class Scalar>
ParticleRows<const Scalar> SharpenedModel<Scalar>::inner(const ParticleRows<const Scalar>& weights) const {
  ParticleRows<const Scalar> rows = weights;
  rows.values.columns = model_->layout().size();
  return rows;
}

template <class Scalar>
bool SharpenedModel<Scalar>::draw_start(std::span<Scalar> weights, std::uint64_t seed, std::int64_t row) const {
  const auto size = static_cast<std::size_t>(model_->layout().size());
  if (!model_->draw_start(weights.first(size), seed, row)) return false;
  std::ranges::fill(weights.subspan(size), static_cast<Scalar>(options_.initial_rate / options_.rate_scale));
  return true;
}

template <class Scalar>
template <class Visit>
void SharpenedModel<Scalar>::for_each_stretch(const Visit& visit) const {
  parallel_for(std::ssize(parts_) - 1, [&](std::int64_t part) {
    for (std::size_t k = parts_[part]; k < parts_[part + 1]; ++k) visit(part, stretches_[k]);
  });
}

template <class Scalar>
void SharpenedModel<Scalar>::make_room(Workspace& space, std::int64_t rows) const {
  if (space.slope.rows() == rows) return;
  const std::int64_t size = model_->layout().size();
  space = {.slope = {rows, size},
           .sharp = {rows, size},
           .score = std::vector<double>(static_cast<std::size_t>(rows)),
           .divergence = std::vector<double>(parts_.size() - 1)};
}

template <class Scalar>
void SharpenedModel<Scalar>::log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                            const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const std::int64_t rows = weights.values.rows, size = model_->layout().size();
  const auto to_minibatch = static_cast<Scalar>(1 / batch.likelihood_scale());
  const auto precision = static_cast<Scalar>(1 / (options_.sharpening_deviation * options_.sharpening_deviation));
  const auto deviation = static_cast<Scalar>(options_.sharpening_deviation);
  const auto rate_scale = static_cast<Scalar>(options_.rate_scale);
  const NoiseKey key{.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization};

  const auto space = workspaces_.borrow([] { return std::make_unique<Workspace>(); });
  make_room(*space, rows);
  const MatrixView<Scalar> slope = space->slope.view(), sharp = space->sharp.view();
  model_->log_likelihood(inner(weights), batch, noise, {.gradient = slope});  // −(N/n) g_φ
  for (std::int64_t i = 0; i < rows; ++i) {
    std::ranges::copy(weights.values.row(i).first(static_cast<std::size_t>(size)), sharp.row(i).begin());
    const auto row = static_cast<std::uint32_t>(weights.first_row + i);
    for_each_stretch([&](std::int64_t, const Stretch& stretch) {
      constexpr std::int64_t piece = 1024;
      alignas(64) Scalar epsilon[piece];
      for (std::int64_t first = 0; first < stretch.count; first += piece) {
        const std::int64_t count = std::min(piece, stretch.count - first);
        fill_normal(std::span(epsilon, static_cast<std::size_t>(count)), key, row,
                    stretch.noise + static_cast<std::uint64_t>(first));
        const Scalar* const eta = weights.values.row(i).data() + stretch.rate + first;
        const Scalar* const ascent = slope.row(i).data() + stretch.weight + first;
        Scalar* const to = sharp.row(i).data() + stretch.weight + first;
        for (std::int64_t j = 0; j < count; ++j)
          to[j] += rate_scale * eta[j] * ascent[j] * to_minibatch + deviation * epsilon[j];
      }
    });
  }
  MatrixView<Scalar> gradient = wanted.gradient;
  gradient.columns = size;
  Evaluation<Scalar> at_theta;
  if (wanted.wants_value()) at_theta.value = space->score;
  if (wanted.wants_gradient()) at_theta.gradient = gradient;
  model_->log_likelihood({sharp, weights.first_row, weights.buffers}, batch, noise, at_theta);

  // With G = −g_φ and s the gradient at θ: ∇η = s G − (N/n) η G²/σ₀², and what ∇φ has through G is H v, with
  // v = η s − (N/n) η² G/σ₀² and H the Hessian of the minibatch.
  gradient = wanted.gradient;
  const bool with_gradient = wanted.wants_gradient();
  const bool exact = with_gradient && options_.gradient == SharpeningGradient::exact;
  const double share = options_.objective == SharpeningObjective::full_joint ? 1 : 1 / options_.minibatches;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (with_gradient) std::ranges::fill(gradient.row(i).subspan(static_cast<std::size_t>(size)), Scalar{0});
    if (exact) std::ranges::fill(sharp.row(i), Scalar{0});
    std::ranges::fill(space->divergence, 0);
    for_each_stretch([&](std::int64_t part, const Stretch& stretch) {
      const Scalar* const etas = weights.values.row(i).data() + stretch.rate;
      const Scalar* const slopes = slope.row(i).data() + stretch.weight;
      Scalar* const vector = sharp.row(i).data() + stretch.weight;
      Scalar* const at_weight = with_gradient ? gradient.row(i).data() + stretch.weight : nullptr;
      Scalar* const at_rate = with_gradient ? gradient.row(i).data() + stretch.rate : nullptr;
      double sum = 0;
      for (std::int64_t j = 0; j < stretch.count; ++j) {
        const Scalar eta = rate_scale * etas[j], ascent = slopes[j] * to_minibatch, pull = slopes[j] * eta * precision;
        sum += static_cast<double>(pull) * static_cast<double>(eta * ascent) / 2;
        if (with_gradient) at_rate[j] = rate_scale * (at_weight[j] * ascent - pull * ascent);
        if (exact) vector[j] = (eta * at_weight[j] - eta * pull) * to_minibatch;
      }
      space->divergence[part] += sum;
    });
    if (!wanted.wants_value()) continue;
    wanted.value[i] =
        share * (space->score[i] - std::accumulate(space->divergence.begin(), space->divergence.end(), 0.0));
  }
  if (exact) {
    model_->hessian_product(inner(weights), batch, noise, sharp, slope);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < size; ++j) gradient(i, j) += slope(i, j);
  }
  for (std::int64_t i = 0; with_gradient && share != 1 && i < rows; ++i)
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

template <class Scalar>
std::unique_ptr<Predictor<Scalar>> SharpenedModel<Scalar>::predictor(const ParticleRows<const Scalar>& weights) {
  return model_->predictor(inner(weights));
}

template class SharpenedModel<float>;
template class SharpenedModel<double>;

}  // namespace stein::inference
