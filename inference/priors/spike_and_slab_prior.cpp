#include <stein/inference/parameterizations/coupled_noise.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/weight_driver.h>

namespace stein::inference {

std::vector<std::int64_t> sizes_of(const Layout& layout, const std::vector<std::string>& entries) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(entries.size());
  for (const std::string& name : entries) sizes.push_back(layout.at(name).size());
  return sizes;
}

template <class Scalar>
SpikeAndSlabPrior<Scalar>::SpikeAndSlabPrior(std::shared_ptr<SpikeAndSlabLatents> latents, const Layout& coordinates,
                                             const std::vector<std::string>& entries, Device device)
    : latents_(std::move(latents)), driver_(weight_driver<Scalar>(device)) {
  std::int64_t size = 0;
  for (const std::string& name : entries) {
    const LayoutEntry& entry = coordinates.at(name);
    spans_.emplace_back(entry.offset, entry.size());
    size += entry.size();
  }
  STEIN_CHECK(size == latents_->size(), "spike and slab: the entries have {} weights, the latents are of {}", size,
              latents_->size());
  observed_ = Matrix<double>(latents_->rows().count, size, device);
  after_ = Matrix<double>(1, size, device);
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::gather(std::span<const Scalar> row, std::span<double> weights) const {
  for (const auto& [offset, length] : spans_) {
    driver_.widen(row.subspan(offset, length), weights.first(length));
    weights = weights.subspan(length);
  }
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows,
                                                const Evaluation<Scalar>& wanted) const {
  const double v0 = latents_->options().laplace_scale, v1 = latents_->options().gaussian_scale;
  Matrix<double> weights;
  if (wanted.wants_value()) weights = Matrix<double>(1, latents_->size(), after_.device());
  for (std::int64_t i = 0; i < rows.values.rows; ++i) {
    const std::int64_t row = rows.first_row + i;
    const double sigma = latents_->sigma(row), spike = 1 / (v0 * sigma), slab = 1 / (v1 * sigma * sigma);
    std::span<const double> rho = latents_->rho(row);
    for (const auto& [offset, length] : spans_) {
      if (!wanted.wants_gradient()) break;
      driver_.add_spike_and_slab(spike, slab, rho.first(length), rows.values.row(i).subspan(offset, length),
                                 wanted.gradient.row(i).subspan(offset, length));
      rho = rho.subspan(length);
    }
    if (!wanted.wants_value()) continue;
    gather(rows.values.row(i), weights.row(0));
    wanted.value[i] += latents_->log_density(row, weights.row(0));
  }
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::observe(const ParticleRows<const Scalar>& coordinates) {
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i)
    gather(coordinates.values.row(i), observed_row(coordinates.first_row + i));
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::adapt(const ParticleRows<const Scalar>& coordinates,
                                      const std::function<Residuals(std::int64_t)>& residuals) {
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const std::int64_t row = coordinates.first_row + i;
    gather(coordinates.values.row(i), after_.row(0));
    latents_->adapt(row, observed_row(row), after_.row(0), [&] { return residuals(i); });
  }
}

template <class Scalar>
SpikeAndSlabPosterior<Scalar> make_spike_and_slab_posterior(const SpikeAndSlabPosteriorOptions& options,
                                                            std::unique_ptr<Model<Scalar>> model,
                                                            const std::vector<std::string>& entries, RowRange rows) {
  const bool coupled = options.sparse.likelihood == SlabLikelihood::regression;
  const Device device = model->device();
  const Layout weights = coupled ? without_noise_precision(model->layout()) : model->layout();
  auto latents = std::make_shared<SpikeAndSlabLatents>(options.sparse, sizes_of(weights, entries), rows, device);
  std::unique_ptr<Parameterization<Scalar>> parameterization;
  if (options.pruning.final_share > 0)
    parameterization = std::make_unique<Masked<Scalar>>(options.pruning, weights, entries, rows, device);
  else
    parameterization = std::make_unique<Direct<Scalar>>(weights, device);
  if (coupled)
    parameterization =
        std::make_unique<CoupledNoise<Scalar>>(model->layout(), std::move(parameterization), latents, device);
  const Layout& coordinates = parameterization->coordinates();
  std::vector<std::unique_ptr<Prior<Scalar>>> priors;
  priors.push_back(std::make_unique<SpikeAndSlabPrior<Scalar>>(latents, coordinates, entries, device));
  priors.push_back(std::make_unique<GaussianPrior<Scalar>>(checked(options.dense), coordinates, entries,
                                                           PriorSpace::coordinates, device));
  return {std::make_unique<Posterior<Scalar>>(std::move(model), std::move(parameterization), std::move(priors)),
          latents};
}

template class SpikeAndSlabPrior<float>;
template class SpikeAndSlabPrior<double>;
template SpikeAndSlabPosterior<float> make_spike_and_slab_posterior(const SpikeAndSlabPosteriorOptions&,
                                                                    std::unique_ptr<Model<float>>,
                                                                    const std::vector<std::string>&, RowRange);
template SpikeAndSlabPosterior<double> make_spike_and_slab_posterior(const SpikeAndSlabPosteriorOptions&,
                                                                     std::unique_ptr<Model<double>>,
                                                                     const std::vector<std::string>&, RowRange);

}  // namespace stein::inference
