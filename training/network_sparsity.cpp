#include <stein/core/error.h>
#include <stein/inference/entry_view.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/training/network_sparsity.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace stein::training {
namespace {

std::int64_t not_zero(std::span<const float> row, const inference::LayoutEntry& entry) {
  const inference::MatrixView<const float> values = inference::entry_view(row, entry);
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < values.rows; ++r)
    count += std::ranges::count_if(values.row(r), [](float weight) { return weight != 0; });
  return count;
}

std::int64_t sum_of(const std::vector<LayerSparsity>& layers,
                    const std::function<std::int64_t(const LayerSparsity&)>& value) {
  return std::accumulate(layers.begin(), layers.end(), std::int64_t{0},
                         [&](std::int64_t sum, const LayerSparsity& layer) { return sum + value(layer); });
}

/// The latent variables of the weights that are made sparse.
const inference::SpikeAndSlabLatents& latents_of(const NetworkWeights& weights) {
  for (const auto& prior : weights.posterior().priors())
    if (const auto* const sparse = dynamic_cast<const inference::SpikeAndSlabPrior<float>*>(prior.get()))
      return sparse->latents();
  fail(ErrorKind::usage, "the method does not make weights sparse");
}

/// The share of some probabilities in each twentieth from 0 to 1.
std::vector<double> twentieths(std::span<const double> probabilities) {
  constexpr std::size_t bins = 20;
  std::vector<double> shares(bins);
  for (const double probability : probabilities)
    shares[std::min(bins - 1, static_cast<std::size_t>(probability * bins))] +=
        1 / static_cast<double>(probabilities.size());
  return shares;
}

}  // namespace

std::int64_t LayerSparsity::bytes_left() const {
  return std::min(bytes(), 8 * left + 4 * (rows + 1));
}

double NetworkSparsity::sparsity() const {
  return 1 - static_cast<double>(sum_of(layers, &LayerSparsity::left)) /
                 static_cast<double>(sum_of(layers, &LayerSparsity::weights));
}

std::int64_t NetworkSparsity::operations() const {
  return other_operations + sum_of(layers, &LayerSparsity::operations);
}

std::int64_t NetworkSparsity::operations_left() const {
  return other_operations + sum_of(layers, &LayerSparsity::operations_left);
}

std::int64_t NetworkSparsity::bytes() const {
  return 4 * parameters;
}

std::int64_t NetworkSparsity::bytes_left() const {
  return bytes() - sum_of(layers, &LayerSparsity::bytes) + sum_of(layers, &LayerSparsity::bytes_left);
}

NetworkSparsity sparsity_of(NetworkWeights& weights) {
  const std::vector<std::string> sparse = weights.sparse_layers();
  const inference::Matrix<float> row = weights.host_weights_now();
  const inference::SpikeAndSlabLatents& latents = latents_of(weights);
  const std::int64_t first = latents.rows().first;
  NetworkSparsity found{.sigma = latents.sigma(first)};
  for (const inference::LayoutEntry& entry : weights.posterior().model().layout().entries()) {
    if (!entry.is_weight()) continue;
    const bool is_sparse = std::ranges::find(sparse, entry.name) != sparse.end();
    const std::int64_t left = is_sparse ? not_zero(row.row(0), entry) : entry.size();
    found.parameters += entry.size(), found.parameters_left += left;
    if (is_sparse)
      found.layers.push_back(
          {.name = entry.name, .rows = entry.shape.front(), .weights = entry.size(), .left = left, .uses = entry.uses});
    else if (entry.role == inference::Role::weight)
      found.other_operations += entry.size() * entry.uses;
  }
  const std::span<const double> rho = latents.rho(first);
  const inference::Matrix<double> shares =
      inference::host_copy<double>({rho.data(), 1, std::ssize(rho)}, weights.particles().device());
  std::size_t place = 0;  // of a layer among the latent variables, which have the order of `sparse`
  std::size_t begin = 0;  // of its weights among them
  for (const std::string& name : sparse) {
    LayerSparsity& layer = *std::ranges::find(found.layers, name, &LayerSparsity::name);
    const auto count = static_cast<std::size_t>(layer.weights);
    layer.slab_share = latents.slab_share(first, place++);
    layer.slab_probabilities = twentieths(shares.row(0).subspan(begin, count));
    begin += count;
  }
  return found;
}

}  // namespace stein::training
