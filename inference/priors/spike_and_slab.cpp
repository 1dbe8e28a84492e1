#include <fmt/ranges.h>
#include <stein/inference/priors/spike_and_slab.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace stein::inference {
namespace {

void move_towards(double& latent, double target, double weight) {
  latent += weight * (target - latent);
}

SpikeOdds spike_odds(const SpikeAndSlabOptions& options, double sigma, double slab_share) {
  const double laplace = sigma * options.laplace_scale, variance = sigma * sigma * options.gaussian_scale;
  return {.constant = std::log1p(-slab_share) - std::log(slab_share) - std::log(2 * laplace) +
                      0.5 * std::log(2 * std::numbers::pi * variance),
          .absolute = 1 / laplace,
          .square = 1 / (2 * variance)};
}

}  // namespace

double SpikeAndSlabOptions::weight(std::int64_t k) const {
  switch (adaptation) {
    case SlabAdaptation::fixed: return 0;
    case SlabAdaptation::expectation_maximisation: return 1;
    case SlabAdaptation::stochastic_approximation:
      return std::min(1.0, rate * std::pow(static_cast<double>(k) + rate_offset, -rate_exponent));
  }
  return 0;
}

SpikeAndSlabLatents::SpikeAndSlabLatents(const SpikeAndSlabOptions& options, std::vector<std::int64_t> layers,
                                         RowRange rows, Device device)
    : options_(checked(options)),
      layers_(std::move(layers)),
      rows_(rows),
      size_(std::accumulate(layers_.begin(), layers_.end(), std::int64_t{0})),
      driver_(weight_driver<float>(device)) {
  STEIN_CHECK(size_ >= 1 && rows.count >= 1, "spike and slab: expected at least one weight and one row, got {} and {}",
              size_, rows.count);
  const auto count = static_cast<std::size_t>(rows.count);
  Matrix<double> rho(rows.count, size_);
  slab_share_ = Matrix<double>(rows.count, std::ssize(layers_));
  for (std::int64_t i = 0; i < rows.count; ++i) {
    std::ranges::fill(rho.row(i), options.slab_share);
    std::ranges::fill(slab_share_.row(i), options.slab_share);
  }
  rho_ = rho.to(device);
  sigma_.assign(count, options.sigma);
  count_.assign(count, 0);
  slabs_.resize(layers_.size());
}

double SpikeAndSlabLatents::slab_share(std::int64_t row, std::size_t layer) const {
  return slab_share_.row(static_cast<std::int64_t>(position(row)))[layer];
}

std::span<const double> SpikeAndSlabLatents::rho(std::int64_t row) const {
  return rho_.row(static_cast<std::int64_t>(position(row)));
}

void SpikeAndSlabLatents::adapt(std::int64_t row, std::span<const double> before, std::span<const double> after,
                                const std::function<Residuals()>& residuals) {
  const std::size_t place = position(row);
  const double weight = options_.weight(++count_[place] + 1);
  if (weight == 0) return;
  const std::span<double> rho = rho_.row(static_cast<std::int64_t>(place));
  const std::span<double> shares = slab_share_.row(static_cast<std::int64_t>(place));
  double& sigma = sigma_[place];

  std::size_t first = 0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto count = static_cast<std::size_t>(layers_[l]);
    slabs_[l] = driver_.move_slab_shares(spike_odds(options_, sigma, shares[l]), before.subspan(first, count), weight,
                                         rho.subspan(first, count));
    first += count;
  }

  if (options_.adapt_sigma) {
    const auto [spikes, slabs] = driver_.slab_sums(rho, after);
    const double absolute = spikes / options_.laplace_scale, square = slabs / options_.gaussian_scale;  // R_b = C_b, J
    const double nu = options_.sigma_shape;
    double a = static_cast<double>(size_) + nu + 2, c = square + nu * options_.sigma_scale;
    if (options_.likelihood == SlabLikelihood::regression) {
      const Residuals found = residuals();
      a += found.count - (options_.sigma_count == SigmaCount::published ? 2 : 0);
      c += found.squares;
    }
    move_towards(sigma, (absolute + std::sqrt(absolute * absolute + 4 * a * c)) / (2 * a), weight);
  }

  if (!options_.adapt_slab_share) return;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const double size = static_cast<double>(layers_[l]);
    const double target =
        (slabs_[l] + options_.slab_share_a - 1) / (options_.slab_share_a + options_.slab_share_b + size - 2);
    move_towards(shares[l], target, weight);
  }
}

double SpikeAndSlabLatents::log_density(std::int64_t row, std::span<const double> weights) const {
  const std::span<const double> share = rho(row);
  const double sigma_now = sigma(row), variance = sigma_now * sigma_now, nu = options_.sigma_shape;
  const auto [absolute, square] = driver_.slab_sums(share, weights);
  return -absolute / (options_.laplace_scale * sigma_now) - square / (2 * options_.gaussian_scale * variance) -
         (static_cast<double>(size_) + nu + 2) * std::log(sigma_now) - nu * options_.sigma_scale / (2 * variance);
}

void SpikeAndSlabLatents::save(Snapshot& snapshot) const {
  rows_.save(snapshot);
  snapshot.put("layers", layers_);
  rho_.save(snapshot, "rho");
  snapshot.put("sigma", sigma_);
  slab_share_.save(snapshot, "slab_share");
  snapshot.put("adaptations", count_);
}

void SpikeAndSlabLatents::restore(const Snapshot& snapshot) {
  rows_.check(snapshot, "spike and slab");
  if (snapshot.contains("layers")) {  // not in older checkpoints
    const auto saved = snapshot.get_vector<std::int64_t>("layers");
    if (saved != layers_)
      fail(ErrorKind::data, "spike and slab: the checkpoint is of layers with {} weights, expected {}",
           fmt::join(saved, ", "), fmt::join(layers_, ", "));
  }
  rho_.restore(snapshot, "rho");
  snapshot.get("sigma", std::span<double>(sigma_));
  slab_share_.restore(snapshot, "slab_share");
  snapshot.get("adaptations", std::span<std::int64_t>(count_));
}

}  // namespace stein::inference
