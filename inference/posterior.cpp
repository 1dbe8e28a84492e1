#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/posterior.h>

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
      layout_(parameterization_->coordinates()) {
  STEIN_CHECK(parameterization_->weights().size() == model_->layout().size(),
              "posterior: the parameterization maps to {} numbers, the model has {}",
              parameterization_->weights().size(), model_->layout().size());
  STEIN_CHECK(layout_.buffer_size() == model_->layout().buffer_size(),
              "posterior: the parameterization has {} buffers, the model {}", layout_.buffer_size(),
              model_->layout().buffer_size());
  for (const auto& prior : priors_) prior->extend(layout_);
}

template <class Scalar>
void Posterior<Scalar>::reserve(std::int64_t rows) {
  if (rows <= reserved_rows_) return;
  const auto samples = static_cast<std::size_t>(rows * parameterization_->samples());
  sample_values_.assign(samples, Scalar{0});
  parameterization_->reserve(rows);
  reserved_rows_ = rows;
}

template <class Scalar>
void Posterior<Scalar>::evaluate(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                                 const NoiseKey& noise, MatrixView<Scalar> gradient, std::span<Scalar> value) {
  const std::int64_t rows = coordinates.values.rows;
  this->check_shapes(coordinates, gradient, value);
  reserve(rows);
  const std::int64_t per_call = model_->rows_per_call();
  parallel_blocks(rows, per_call == 0 ? rows : per_call, [&](std::int64_t begin, std::int64_t end) {
    evaluate_block(coordinates, begin, end - begin, batch, noise, gradient, value);
  });
}

template <class Scalar>
void Posterior<Scalar>::evaluate_block(const ParticleRows<const Scalar>& coordinates, std::int64_t first,
                                       std::int64_t count, const Batch<Scalar>& batch, const NoiseKey& noise,
                                       MatrixView<Scalar> gradient, std::span<Scalar> value) {
  const std::int64_t samples = parameterization_->samples(), weight_size = weight_layout().size();
  const std::int64_t mapped = parameterization_->coordinates().size();
  const bool wants_value = !value.empty();
  // One block's weights and gradients, used by block after block of this thread so that they stay in its cache. Rows a
  // whole number of cache lines apart.
  thread_local AlignedBuffer<Scalar> buffer;
  const std::int64_t stride = padded_columns(weight_size), extent = count * samples * stride;
  if (static_cast<std::int64_t>(buffer.size()) < 2 * extent)
    buffer = AlignedBuffer<Scalar>(static_cast<std::size_t>(2 * extent));
  const MatrixView<Scalar> weights{buffer.data(), count * samples, weight_size, stride};
  const MatrixView<Scalar> weight_gradient{buffer.data() + extent, count * samples, weight_size, stride};
  const std::span<Scalar> sample_value =
      wants_value ? std::span(sample_values_).subspan(first * samples, count * samples) : std::span<Scalar>();

  ParticleRows<const Scalar> rows = coordinates.block(first, count);
  ParticleRows<const Scalar> mapped_rows = rows;
  mapped_rows.values.columns = mapped;
  MatrixView<Scalar> rows_gradient = gradient.block(first, count), mapped_gradient = rows_gradient;
  mapped_gradient.columns = mapped;

  for (const auto& prior : priors_) prior->observe(rows);
  parameterization_->forward(mapped_rows, first, noise, weights);
  score(rows, weights, share_of(batch, first, count), noise, weight_gradient, sample_value);
  for (const auto& prior : priors_)
    if (prior->space() == PriorSpace::weights)
      prior->add_gradient({weights, rows.first_row * samples}, weight_gradient, sample_value);
  if (samples > 1) {
    const Scalar share = Scalar{1} / static_cast<Scalar>(samples);
    for (std::int64_t i = 0; i < weight_gradient.rows; ++i)
      for (Scalar& g : weight_gradient.row(i)) g *= share;
  }
  parameterization_->pullback(mapped_rows, first, noise, weight_gradient, mapped_gradient);
  for (std::int64_t i = 0; i < count; ++i)
    std::ranges::fill(rows_gradient.row(i).subspan(static_cast<std::size_t>(mapped)), Scalar{0});

  const std::span<Scalar> rows_value = wants_value ? value.subspan(first, count) : std::span<Scalar>();
  for (std::size_t i = 0; i < rows_value.size(); ++i) {
    Scalar sum{0};
    for (std::int64_t s = 0; s < samples; ++s) sum += sample_value[i * samples + s];
    rows_value[i] = sum / static_cast<Scalar>(samples);
  }
  if (wants_value) parameterization_->add_entropy(mapped_rows, rows_value);
  for (const auto& prior : priors_)
    if (prior->space() == PriorSpace::coordinates) prior->add_gradient(rows, rows_gradient, rows_value);
}

template <class Scalar>
void Posterior<Scalar>::score(const ParticleRows<const Scalar>& rows, MatrixView<const Scalar> weights,
                              const Batch<Scalar>& batch, const NoiseKey& noise, MatrixView<Scalar> weight_gradient,
                              std::span<Scalar> sample_value) {
  const std::int64_t samples = parameterization_->samples(), count = rows.values.rows;
  const bool all_share = !batch.inputs_per_particle && !batch.targets_per_particle && rows.buffers.empty();
  if (samples == 1 || all_share)
    return model_->log_likelihood({weights, rows.first_row * samples, rows.buffers}, batch, noise, weight_gradient,
                                  sample_value);
  for (std::int64_t i = 0; i < count; ++i) {
    // The weight samples of one particle see the same data and the same row of buffers.
    const MatrixView<const Scalar> buffers{rows.buffers.row(i).data(), samples, rows.buffers.columns, 0};
    model_->log_likelihood({weights.block(i * samples, samples), (rows.first_row + i) * samples, buffers},
                           share_of(batch, i, 1), noise, weight_gradient.block(i * samples, samples),
                           sample_value.empty() ? sample_value : sample_value.subspan(i * samples, samples));
  }
}

template <class Scalar>
void Posterior<Scalar>::adapt(const ParticleRows<const Scalar>& coordinates, const Batch<Scalar>& batch,
                              const NoiseKey& noise, MatrixView<Scalar> buffers) {
  adapt_buffers(coordinates, batch, noise, buffers);
  const std::function<Residuals(std::int64_t)> residuals_of_row = [&](std::int64_t i) {
    return residuals(coordinates, i, batch, noise);
  };
  for (const auto& prior : priors_) prior->adapt(coordinates, residuals_of_row);
  parameterization_->adapt(coordinates);
}

template <class Scalar>
Residuals Posterior<Scalar>::residuals(const ParticleRows<const Scalar>& coordinates, std::int64_t i,
                                       const Batch<Scalar>& batch, const NoiseKey& noise) {
  const std::int64_t samples = parameterization_->samples(), size = weight_layout().size();
  AlignedBuffer<Scalar> memory(static_cast<std::size_t>(samples * size));
  const MatrixView<Scalar> weights{memory.data(), samples, size};
  const ParticleRows<const Scalar> row = coordinates.block(i, 1);
  effective_weights(row, noise, weights);
  const MatrixView<const Scalar> buffers{row.buffers.data, samples, row.buffers.columns, 0};
  return residuals_of<Scalar>(*model_, {weights, row.first_row * samples, buffers}, share_of(batch, i, 1));
}

template <class Scalar>
std::span<const std::uint8_t> Posterior<Scalar>::free_coordinates(std::int64_t row) const {
  return parameterization_->free_coordinates(row);
}

template <class Scalar>
void Posterior<Scalar>::save(Snapshot& snapshot) const {
  Snapshot mask;
  parameterization_->save(mask);
  snapshot.put_part("parameterization", mask);
  for (std::size_t k = 0; k < priors_.size(); ++k) {
    Snapshot latents;
    priors_[k]->save(latents);
    snapshot.put_part("prior" + std::to_string(k), latents);
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
  const std::int64_t rows = coordinates.values.rows, samples = parameterization_->samples();
  const std::int64_t size = weight_layout().size();
  AlignedBuffer<Scalar> memory(static_cast<std::size_t>(rows * samples * size));
  const MatrixView<Scalar> weights{memory.data(), rows * samples, size};
  effective_weights(coordinates, noise, weights);
  for (std::int64_t i = 0; i < rows; ++i)
    model_->adapt({weights.block(i * samples, 1), (coordinates.first_row + i) * samples, buffers.block(i, 1)},
                  share_of(batch, i, 1), noise, buffers.block(i, 1));
}

template <class Scalar>
Particles<Scalar> Posterior<Scalar>::initial_particles(std::int64_t rows, std::uint64_t seed, double spread) {
  Particles<Scalar> particles(layout_, rows);
  parameterization_->initialise(particles, seed, spread);
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
  return particles;
}

template <class Scalar>
void Posterior<Scalar>::effective_weights(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                          MatrixView<Scalar> weights) {
  reserve(coordinates.values.rows);
  ParticleRows<const Scalar> mapped = coordinates;
  mapped.values.columns = parameterization_->coordinates().size();
  parameterization_->forward(mapped, 0, noise, weights);
}

template class Posterior<float>;
template class Posterior<double>;

}  // namespace stein::inference
