#include <stein/core/error.h>
#include <stein/inference/posterior.h>
#include <stein/inference/row_blocks.h>
#include <stein/inference/storage/matrix.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <string>

namespace stein::inference {

template <class Scalar>
Posterior<Scalar>::Posterior(std::unique_ptr<Model<Scalar>> model,
                             std::unique_ptr<Parameterization<Scalar>> parameterization,
                             std::vector<std::unique_ptr<Prior<Scalar>>> priors)
    : model_(std::move(model)),
      parameterization_(std::move(parameterization)),
      priors_(std::move(priors)),
      layout_(parameterization_->coordinates()),
      driver_(weight_driver<Scalar>(model_->device())) {
  STEIN_CHECK(parameterization_->weights().size() == model_->layout().size(),
              "posterior: the parameterization maps to {} numbers, the model has {}",
              parameterization_->weights().size(), model_->layout().size());
  STEIN_CHECK(layout_.buffer_size() == model_->layout().buffer_size(),
              "posterior: the parameterization has {} buffers, the model {}", layout_.buffer_size(),
              model_->layout().buffer_size());
  for (const auto& prior : priors_) prior->extend(layout_);
}

template <class Scalar>
typename Pool<typename Posterior<Scalar>::Block>::Loan Posterior<Scalar>::borrow_block() const {
  return blocks_.borrow([this] { return std::make_unique<Block>(Block{{}, {}, parameterization_->make_trace()}); });
}

template <class Scalar>
void Posterior<Scalar>::evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                                 const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const std::int64_t rows = coordinates.values.rows;
  this->check_shapes(coordinates, batch, wanted);
  batch.inputs.carried.check(rows * parameterization_->samples(), model_->carried_size(batch.inputs));
  Batch<Scalar> own = batch;
  own.weight_samples = parameterization_->samples();
  for_each_block(*model_, batch, rows, [&](std::int64_t begin, std::int64_t end) {
    evaluate_block(coordinates, begin, end - begin, own, noise, wanted.block(begin, end - begin));
  });
}

template <class Scalar>
void Posterior<Scalar>::evaluate_block(const ParticleRows<const Scalar>& coordinates, std::int64_t first,
                                       std::int64_t count, const Batch<Scalar>& batch, const NoiseKey& noise,
                                       const Evaluation<Scalar>& wanted) {
  const std::int64_t samples = parameterization_->samples(), weight_size = weight_layout().size();
  const std::int64_t mapped = parameterization_->coordinates().size();
  const bool with_gradient = wanted.wants_gradient(), through = parameterization_->passes_through();
  ParticleRows<const Scalar> rows = coordinates.block(first, count);
  ParticleRows<const Scalar> mapped_rows = rows;
  mapped_rows.values.columns = mapped;
  MatrixView<Scalar> mapped_gradient = wanted.gradient;
  mapped_gradient.columns = mapped;

  const auto block = borrow_block();
  const std::int64_t own_rows = through ? 0 : (with_gradient ? 2 : 1) * count * samples;
  if (block->weights.rows() < own_rows) block->weights = Matrix<Scalar>(own_rows, weight_size, model_->device());
  MatrixView<const Scalar> weights = mapped_rows.values;
  Evaluation<Scalar> of_weights;
  if (with_gradient) of_weights.gradient = mapped_gradient;
  if (wanted.wants_value()) {
    block->values.resize(static_cast<std::size_t>(count * samples));
    of_weights.value = block->values;
  }

  for (const auto& prior : priors_)
    if (with_gradient) prior->observe(rows);
  if (!through) {
    const MatrixView<Scalar> own_weights = block->weights.view().block(0, count * samples);
    parameterization_->forward(mapped_rows, noise, own_weights, *block->trace);
    weights = own_weights;
    if (with_gradient) of_weights.gradient = block->weights.view().block(count * samples, count * samples);
  }
  score(rows, weights, share_of(batch, first, count), noise, of_weights);
  for (const auto& prior : priors_)
    if (prior->space() == PriorSpace::weights) prior->add_log_density({weights, rows.first_row * samples}, of_weights);
  if (samples > 1 && with_gradient) {
    const Scalar share = Scalar{1} / static_cast<Scalar>(samples);
    for (std::int64_t i = 0; i < of_weights.gradient.rows; ++i) driver_.scale(of_weights.gradient.row(i), share);
  }
  if (with_gradient && !through)
    parameterization_->pullback(mapped_rows, noise, of_weights.gradient, mapped_gradient, *block->trace);
  for (std::int64_t i = 0; with_gradient && i < count; ++i)
    driver_.fill(wanted.gradient.row(i).subspan(static_cast<std::size_t>(mapped)), Scalar{0});

  add_prior_of_coordinates(rows, of_weights.value, wanted);
}

template <class Scalar>
void Posterior<Scalar>::add_prior_of_coordinates(const ParticleRows<const Scalar>& rows,
                                                 std::span<const double> of_samples, const Evaluation<Scalar>& wanted) {
  const auto samples = static_cast<std::size_t>(parameterization_->samples());
  ParticleRows<const Scalar> mapped_rows = rows;
  mapped_rows.values.columns = parameterization_->coordinates().size();
  for (std::size_t i = 0; i < wanted.value.size(); ++i) {
    double sum = 0;
    for (const double value : of_samples.subspan(i * samples, samples)) sum += value;
    wanted.value[i] = sum / static_cast<double>(samples);
  }
  if (wanted.wants_value()) parameterization_->add_entropy(mapped_rows, wanted.value);
  for (const auto& prior : priors_)
    if (prior->space() == PriorSpace::coordinates) prior->add_log_density(rows, wanted);
}

template <class Scalar>
void Posterior<Scalar>::evaluate_prior(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                       std::span<double> value) {
  const std::int64_t samples = parameterization_->samples();
  ParticleRows<const Scalar> mapped = coordinates;
  mapped.values.columns = parameterization_->coordinates().size();
  const auto block = borrow_block();
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    MatrixView<const Scalar> weights = mapped.values.block(i, 1);
    if (!parameterization_->passes_through()) {
      if (block->weights.rows() < samples)
        block->weights = Matrix<Scalar>(samples, weight_layout().size(), model_->device());
      const MatrixView<Scalar> own = block->weights.view().block(0, samples);
      parameterization_->forward(mapped.block(i, 1), noise, own, *block->trace);
      weights = own;
    }
    block->values.assign(static_cast<std::size_t>(samples), 0.0);
    for (const auto& prior : priors_)
      if (prior->space() == PriorSpace::weights)
        prior->add_log_density({weights, (coordinates.first_row + i) * samples}, {.value = block->values});
    add_prior_of_coordinates(coordinates.block(i, 1), block->values,
                             {.value = value.subspan(static_cast<std::size_t>(i), 1)});
  }
}

template <class Scalar>
void Posterior<Scalar>::score(const ParticleRows<const Scalar>& rows, MatrixView<const Scalar> weights,
                              const Batch<Scalar>& batch, const NoiseKey& noise, const Evaluation<Scalar>& wanted) {
  const std::int64_t samples = parameterization_->samples(), count = rows.values.rows;
  const bool all_share = !batch.inputs_per_particle && !batch.targets_per_particle && rows.buffers.empty();
  if (samples == 1 || all_share)
    return model_->log_likelihood({weights, rows.first_row * samples, rows.buffers}, batch, noise, wanted);
  for (std::int64_t i = 0; i < count; ++i) {
    // The weight samples of one particle see the same data and the same row of buffers.
    const MatrixView<const Scalar> buffers{rows.buffers.row(i).data(), samples, rows.buffers.columns, 0};
    model_->log_likelihood({weights.block(i * samples, samples), (rows.first_row + i) * samples, buffers},
                           share_of(batch, i, 1), noise, wanted.block(i * samples, samples));
  }
}

template <class Scalar>
void Posterior<Scalar>::adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                              const NoiseKey& noise, MatrixView<Scalar> buffers) {
  Batch<Scalar> again = batch;
  again.weight_samples = parameterization_->samples();
  again.inputs.carried.after = {};  // it is that of the evaluation, not of another look at the batch
  adapt_buffers(coordinates, again, noise, buffers);
  const std::function<Residuals(std::int64_t)> residuals_of_row = [&](std::int64_t i) {
    return residuals(coordinates, i, again, noise);
  };
  for (const auto& prior : priors_) prior->adapt(coordinates, residuals_of_row);
  parameterization_->adapt(coordinates);
  batch.inputs.carried.accept();
}

template <class Scalar>
bool Posterior<Scalar>::adapts() const {
  return layout_.buffer_size() > 0 || parameterization_->adapts() ||
         std::ranges::any_of(priors_, [](const auto& prior) { return prior->adapts(); });
}

template <class Scalar>
Residuals Posterior<Scalar>::residuals(const ParticleRows<const Scalar>& coordinates, std::int64_t i,
                                       const Batch<Scalar>& batch, const NoiseKey& noise) {
  const std::int64_t samples = parameterization_->samples();
  const ParticleRows<const Scalar> row = coordinates.block(i, 1);
  const auto block = borrow_block();
  const MatrixView<const Scalar> weights = weights_of(row, noise, block->weights);
  const MatrixView<const Scalar> buffers{row.buffers.data, samples, row.buffers.columns, 0};
  return residuals_of<Scalar>(*model_, {weights, row.first_row * samples, buffers}, share_of(batch, i, 1));
}

template <class Scalar>
std::span<const std::uint8_t> Posterior<Scalar>::free_coordinates(std::int64_t row) const {
  return parameterization_->free_coordinates(row);
}

template <class Scalar>
void Posterior<Scalar>::save(Snapshot& snapshot) const {
  snapshot.put_saved("parameterization", *parameterization_);
  for (std::size_t k = 0; k < priors_.size(); ++k) {
    snapshot.put_saved("prior" + std::to_string(k), *priors_[k]);
  }
}

template <class Scalar>
void Posterior<Scalar>::restore(const Snapshot& snapshot) {
  parameterization_->restore(snapshot.part("parameterization"));
  for (std::size_t k = 0; k < priors_.size(); ++k) priors_[k]->restore(snapshot.part("prior" + std::to_string(k)));
}

template <class Scalar>
void Posterior<Scalar>::adapt_buffers(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                                      const NoiseKey& noise, MatrixView<Scalar> buffers) {
  if (buffers.empty()) return;
  const std::int64_t samples = parameterization_->samples();
  const auto block = borrow_block();
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const ParticleRows<const Scalar> row = coordinates.block(i, 1);
    const MatrixView<const Scalar> weights = weights_of(row, noise, block->weights).block(0, 1);
    model_->adapt({weights, row.first_row * samples, buffers.block(i, 1)}, share_of(batch, i, 1), noise,
                  buffers.block(i, 1));
  }
}

template <class Scalar>
Particles<Scalar> Posterior<Scalar>::initial_particles(std::int64_t rows, std::uint64_t seed, double spread) {
  Particles<Scalar> particles(layout_, rows);
  initialise(particles, seed, spread);
  if (const Device device = model_->device(); device != Device{}) return particles.to(device);
  return particles;
}

template <class Scalar>
void Posterior<Scalar>::initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) {
  const std::int64_t rows = particles.rows();
  parameterization_->initialise(particles, seed, spread);
  start_as_model(particles, seed);
  for (const auto& prior : priors_)
    for (std::int64_t i = 0; i < rows; ++i) prior->initialise(particles.values().row(i));
  for (const LayoutEntry& entry : model_->layout().entries()) {
    if (entry.role != Role::log_precision && entry.role != Role::rate) continue;
    const LayoutEntry* place = layout_.find(entry.name);
    if (place == nullptr) continue;  // no coordinate: the parameterization has another source for it
    const auto start = static_cast<Scalar>(model_->initial_value(entry));
    for (std::int64_t i = 0; i < rows; ++i)
      std::ranges::fill(particles.values().row(i).subspan(place->offset, place->extent()), start);
  }
  for (std::int64_t i = 0; i < rows; ++i) model_->initialise_buffers(particles.buffers().row(i));
}

template <class Scalar>
void Posterior<Scalar>::start_as_model(Particles<Scalar>& particles, std::uint64_t seed) const {
  const Layout& weights = model_->layout();
  std::vector<Scalar> start(static_cast<std::size_t>(weights.size()));
  for (std::int64_t i = 0; i < particles.rows(); ++i) {
    if (!model_->draw_start(start, seed, particles.first_row() + i)) return;
    for (const LayoutEntry& from : weights.entries()) {
      const LayoutEntry* to = from.is_weight() ? layout_.find(from.name) : nullptr;
      if (to == nullptr || to->shape != from.shape) continue;
      for (std::int64_t r = 0; r < from.rows(); ++r)
        std::copy_n(start.begin() + from.offset + r * from.row_stride, from.columns(),
                    particles.values().row(i).begin() + to->offset + r * to->row_stride);
    }
  }
}

template <class Scalar>
void Posterior<Scalar>::effective_weights(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                          MatrixView<Scalar> weights) {
  ParticleRows<const Scalar> mapped = coordinates;
  mapped.values.columns = parameterization_->coordinates().size();
  parameterization_->forward(mapped, noise, weights, *borrow_block()->trace);
}

template <class Scalar>
MatrixView<const Scalar> Posterior<Scalar>::weights_of(const ParticleRows<const Scalar>& coordinates,
                                                       const NoiseKey& noise, Matrix<Scalar>& memory) {
  const std::int64_t rows = coordinates.values.rows * weight_samples(), size = weight_layout().size();
  if (parameterization_->passes_through()) {
    MatrixView<const Scalar> weights = coordinates.values;
    weights.columns = size;
    return weights;
  }
  if (memory.rows() < rows) memory = Matrix<Scalar>(rows, size, model_->device());
  const MatrixView<Scalar> weights = memory.view().block(0, rows);
  effective_weights(coordinates, noise, weights);
  return weights;
}

template class Posterior<float>;
template class Posterior<double>;

}  // namespace stein::inference
