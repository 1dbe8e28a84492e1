#include <stein/core/parallel.h>
#include <stein/inference/parameterizations/coupled_noise.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/priors/spike_and_slab_prior.h>

#include <algorithm>

namespace stein::inference {

std::vector<std::int64_t> sizes_of(const Layout& layout, const std::vector<std::string>& entries) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(entries.size());
  for (const std::string& name : entries) sizes.push_back(layout.at(name).size());
  return sizes;
}

template <class Scalar>
SpikeAndSlabPrior<Scalar>::SpikeAndSlabPrior(std::shared_ptr<SpikeAndSlabLatents> latents, const Layout& coordinates,
                                             const std::vector<std::string>& entries)
    : latents_(std::move(latents)) {
  std::int64_t size = 0;
  for (const std::string& name : entries) {
    const LayoutEntry& entry = coordinates.at(name);
    spans_.emplace_back(entry.offset, entry.size());
    size += entry.size();
  }
  STEIN_CHECK(size == latents_->size(), "spike and slab: the entries have {} weights, the latents are of {}", size,
              latents_->size());
  observed_ = Matrix<double>(latents_->rows().count, size);
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::gather(std::span<const Scalar> row, std::span<double> weights) const {
  constexpr std::int64_t block = 65536;
  double* to = weights.data();
  for (const auto& [offset, length] : spans_) {
    parallel_blocks(length, block, [&, from = row.data() + offset](std::int64_t begin, std::int64_t end) {
      std::copy(from + begin, from + end, to + begin);
    });
    to += length;
  }
}

template <class Scalar>
void SpikeAndSlabPrior<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows,
                                                const Evaluation<Scalar>& wanted) const {
  const double v0 = latents_->options().laplace_scale, v1 = latents_->options().gaussian_scale;
  std::vector<double> weights(wanted.wants_value() ? static_cast<std::size_t>(latents_->size()) : 0);
  for (std::int64_t i = 0; i < rows.values.rows; ++i) {
    const std::int64_t row = rows.first_row + i;
    const double sigma = latents_->sigma(row), spike = 1 / (v0 * sigma), slab = 1 / (v1 * sigma * sigma);
    const Scalar* values = rows.values.row(i).data();
    Scalar* slope = wanted.wants_gradient() ? wanted.gradient.row(i).data() : nullptr;
    const double* rho = latents_->rho(row).data();
    for (const auto& [offset, length] : spans_) {
      if (slope == nullptr) break;
      constexpr std::int64_t block = 8192;
      parallel_blocks(length, block, [&, first = offset](std::int64_t begin, std::int64_t end) {
        for (std::int64_t j = begin; j < end; ++j) {
          const Scalar value = values[first + j];
          const double sign = static_cast<double>(value > 0) - static_cast<double>(value < 0);
          slope[first + j] -=
              static_cast<Scalar>((1 - rho[j]) * spike * sign + rho[j] * slab * static_cast<double>(value));
        }
      });
      rho += length;
    }
    if (!wanted.wants_value()) continue;
    gather(rows.values.row(i), weights);
    wanted.value[i] += latents_->log_density(row, weights);
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
  after_.resize(static_cast<std::size_t>(latents_->size()));
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const std::int64_t row = coordinates.first_row + i;
    gather(coordinates.values.row(i), after_);
    latents_->adapt(row, observed_row(row), after_, [&] { return residuals(i); });
  }
}

template <class Scalar>
SpikeAndSlabPosterior<Scalar> make_spike_and_slab_posterior(const SpikeAndSlabPosteriorOptions& options,
                                                            std::unique_ptr<Model<Scalar>> model,
                                                            const std::vector<std::string>& entries, RowRange rows) {
  const bool coupled = options.sparse.likelihood == SlabLikelihood::regression;
  const Layout weights = coupled ? without_noise_precision(model->layout()) : model->layout();
  auto latents = std::make_shared<SpikeAndSlabLatents>(options.sparse, sizes_of(weights, entries), rows);
  std::unique_ptr<Parameterization<Scalar>> parameterization;
  if (options.pruning.final_share > 0)
    parameterization = std::make_unique<Masked<Scalar>>(options.pruning, weights, entries, rows);
  else
    parameterization = std::make_unique<Direct<Scalar>>(weights);
  if (coupled)
    parameterization = std::make_unique<CoupledNoise<Scalar>>(model->layout(), std::move(parameterization), latents);
  const Layout& coordinates = parameterization->coordinates();
  std::vector<std::unique_ptr<Prior<Scalar>>> priors;
  priors.push_back(std::make_unique<SpikeAndSlabPrior<Scalar>>(latents, coordinates, entries));
  priors.push_back(std::make_unique<GaussianPrior<Scalar>>(checked(options.dense), coordinates, entries));
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
