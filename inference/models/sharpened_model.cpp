#include <stein/core/parallel.h>
#include <stein/inference/models/sharpened_model.h>
#include <stein/inference/models/sharpening_pass.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace stein::inference {

template <class Scalar>
SharpenedModel<Scalar>::SharpenedModel(std::unique_ptr<Model<Scalar>> model, const SharpeningOptions& options)
    : model_(std::move(model)),
      options_(checked(options)),
      layout_(model_->layout()),
      parts_{0},
      driver_(weight_driver<Scalar>(model_->device())) {
  const bool on_host = model_->device().kind == Device::Kind::host;
  STEIN_CHECK(options.minibatches >= 1, "sharpening: minibatches must be at least 1, got {}", options.minibatches);
  // Weights of a part: on a device one launch has all of a parameter.
  const std::int64_t most = on_host ? 16384 : std::numeric_limits<std::int64_t>::max();
  std::uint64_t noise = 0;
  std::int64_t in_part = 0;
  const auto add_stretch = [&](const Stretch& stretch) {
    if (in_part > 0 && stretch.count > most - in_part) {
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
        for (std::int64_t c = 0; c < columns; c += std::min(most, columns - c)) {
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
  const auto visit_part = [&](std::int64_t part) {
    for (std::size_t k = parts_[part]; k < parts_[part + 1]; ++k) visit(part, stretches_[k]);
  };
  if (model_->device().kind == Device::Kind::host) return parallel_for(std::ssize(parts_) - 1, visit_part);
  for (std::int64_t part = 0; part + 1 < std::ssize(parts_); ++part) visit_part(part);
}

template <class Scalar>
void SharpenedModel<Scalar>::make_room(Workspace& space, std::int64_t rows) const {
  if (space.slope.rows() == rows) return;
  const std::int64_t size = model_->layout().size();
  space = {.slope = {rows, size, model_->device()},
           .sharp = {rows, size, model_->device()},
           .score = std::vector<double>(static_cast<std::size_t>(rows)),
           .divergence = std::vector<double>(parts_.size() - 1)};
}

template <class Scalar>
void SharpenedModel<Scalar>::sharpen_row(const ParticleRows<const Scalar>& weights, std::int64_t i,
                                         const SharpeningNumbers& numbers, const NoiseKey& noise,
                                         Workspace& space) const {
  const NoiseKey key{.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization};
  const auto row = static_cast<std::uint32_t>(weights.first_row + i);
  const std::span<const Scalar> from = weights.values.row(i), slopes = std::as_const(space.slope).row(i);
  const std::span<Scalar> to = space.sharp.row(i);
  copy_rows(inner(weights).values.block(i, 1), space.sharp.view().block(i, 1), model_->device());
  for_each_stretch([&](std::int64_t, const Stretch& stretch) {
    driver_.sharpen(numbers, {from.subspan(stretch.rate, stretch.count), slopes.subspan(stretch.weight, stretch.count)},
                    key, row, stretch.noise, to.subspan(stretch.weight, stretch.count));
  });
}

template <class Scalar>
void SharpenedModel<Scalar>::pull_back_row(const ParticleRows<const Scalar>& weights, std::int64_t i,
                                           const SharpeningNumbers& numbers, const Evaluation<Scalar>& wanted,
                                           Workspace& space) const {
  const bool with_gradient = wanted.wants_gradient();
  const bool exact = with_gradient && options_.gradient == SharpeningGradient::exact;
  const auto size = static_cast<std::size_t>(model_->layout().size());
  const std::span<const Scalar> from = weights.values.row(i), slopes = std::as_const(space.slope).row(i);
  const std::span<Scalar> gradient = with_gradient ? wanted.gradient.row(i) : std::span<Scalar>();
  if (with_gradient) driver_.fill(gradient.subspan(size), Scalar{0});
  if (exact) driver_.fill(space.sharp.row(i), Scalar{0});
  std::ranges::fill(space.divergence, 0);
  for_each_stretch([&](std::int64_t part, const Stretch& stretch) {
    const auto of = [&](std::span<Scalar> numbers_of_row, std::int64_t first) {
      return numbers_of_row.empty() ? numbers_of_row : numbers_of_row.subspan(first, stretch.count);
    };
    driver_.pull_back_rates(numbers,
                            {from.subspan(stretch.rate, stretch.count), slopes.subspan(stretch.weight, stretch.count)},
                            of(gradient, stretch.weight), of(gradient, stretch.rate),
                            of(exact ? space.sharp.row(i) : std::span<Scalar>(), stretch.weight),
                            wanted.wants_value() ? &space.divergence[part] : nullptr);
  });
}

template <class Scalar>
void SharpenedModel<Scalar>::log_likelihood(const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch,
                                            const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const std::int64_t rows = weights.values.rows, size = model_->layout().size();
  const SharpeningNumbers numbers{.rate_scale = options_.rate_scale,
                                  .to_minibatch = 1 / batch.likelihood_scale(),
                                  .deviation = options_.sharpening_deviation,
                                  .precision = 1 / (options_.sharpening_deviation * options_.sharpening_deviation)};
  const auto space = workspaces_.borrow([] { return std::make_unique<Workspace>(); });
  make_room(*space, rows);
  const MatrixView<Scalar> slope = space->slope.view(), sharp = space->sharp.view();
  model_->log_likelihood(inner(weights), batch, noise, {.gradient = slope});  // −(N/n) g_φ
  for (std::int64_t i = 0; i < rows; ++i) sharpen_row(weights, i, numbers, noise, *space);

  MatrixView<Scalar> gradient = wanted.gradient;
  gradient.columns = size;
  Evaluation<Scalar> at_theta;
  if (wanted.wants_value()) at_theta.value = space->score;
  if (wanted.wants_gradient()) at_theta.gradient = gradient;
  model_->log_likelihood({sharp, weights.first_row, weights.buffers}, batch, noise, at_theta);

  // What ∇φ has through g_φ is H v, with v the vector of pull_back_rates and H the Hessian of the minibatch.
  const bool with_gradient = wanted.wants_gradient();
  const bool exact = with_gradient && options_.gradient == SharpeningGradient::exact;
  const double share = options_.objective == SharpeningObjective::full_joint ? 1 : 1 / options_.minibatches;
  for (std::int64_t i = 0; i < rows; ++i) {
    pull_back_row(weights, i, numbers, wanted, *space);
    if (!wanted.wants_value()) continue;
    wanted.value[i] =
        share * (space->score[i] - std::accumulate(space->divergence.begin(), space->divergence.end(), 0.0));
  }
  if (exact) {
    model_->hessian_product(inner(weights), batch, noise, sharp, slope);
    const auto& loops = driver<Scalar>(Ensemble{.device = model_->device()});
    for (std::int64_t i = 0; i < rows; ++i) loops.subtract_scaled(slope.row(i), Scalar{-1}, gradient.row(i), nullptr);
  }
  for (std::int64_t i = 0; with_gradient && share != 1 && i < rows; ++i)
    driver_.scale(wanted.gradient.row(i), static_cast<Scalar>(share));
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
