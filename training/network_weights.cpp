#include <stein/inference/models/recurrent_spec.h>
#include <stein/inference/parameterizations/softplus.h>
#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/training/network_weights.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace stein::training {
namespace {

WeightMethodOptions with_facts(WeightMethodOptions options, const DataFacts& data) {
  options.posterior.sharpening.minibatches = std::max(data.minibatches, 1.0);
  return checked(options);
}

}  // namespace

NetworkWeights::NetworkWeights(const WeightMethodOptions& options, std::unique_ptr<inference::Model<float>> model,
                               const DataFacts& data, std::uint64_t seed)
    : method_(with_facts(options, data)),
      posterior_(inference::make_network_posterior(method_.posterior, std::move(model))),
      particles_(posterior_->initial_particles(method_.particles, seed, /*spread=*/1)) {
  STEIN_CHECK(kind() != MethodKind::chain || particles_.rows() == 1 || sparse_layers().empty(),
              "option 'chains': which weights a spike and slab leaves is said of one chain, expected 1, got {}",
              particles_.rows());
  if (method_.outer_deviation != 1) widen_outer_weights();
}

void NetworkWeights::widen_outer_weights() {
  inference::Matrix<float> host = inference::host_copy<float>(particles_.values(), particles_.device());
  for (const inference::LayoutEntry& entry : particles_.layout().entries()) {
    if (entry.role != inference::Role::log_deviation || inference::in_recurrent_layer(entry.name)) continue;
    for (std::int64_t i = 0; i < host.rows(); ++i)
      for (float& rho :
           host.row(i).subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size())))
        rho =
            static_cast<float>(inference::inverse_softplus(method_.outer_deviation * inference::softplus(double{rho})));
  }
  inference::copy_rows<float>(host.to(particles_.device()).view(), particles_.values(), particles_.device());
}

inference::MatrixView<const float> NetworkWeights::draw_weights(const NoiseKey& key, inference::Matrix<float>& memory) {
  inference::ParticleRows<const float> rows = particles_.coordinates();
  // A training step draws with the rows of the particles: draws for predictions are of other rows.
  if (method_.kind == MethodKind::variational) rows.first_row += particles_.total_rows();
  const inference::MatrixView<const float> weights = posterior_->weights_of(rows, key, memory);
  return method_.kind == MethodKind::variational ? weights.block(0, 1) : weights;  // one of the S draws of a step
}

inference::MatrixView<const float> NetworkWeights::mean_weights(inference::Matrix<float>& memory) {
  const auto* const family = dynamic_cast<const inference::VariationalFamily<float>*>(&posterior_->parameterization());
  STEIN_CHECK(family != nullptr, "only a variational method has a mean of its weights");
  if (memory.rows() != particles_.rows() || memory.columns() != weight_count())
    memory = inference::Matrix<float>(particles_.rows(), weight_count(), particles_.device());
  family->mean_weights(particles_.values(), memory.view());
  return memory.view();
}

std::int64_t NetworkWeights::parameter_count() const {
  std::int64_t count = 0;
  for (const inference::LayoutEntry& entry : posterior_->model().layout().entries())
    if (entry.is_weight()) count += entry.size();
  return count;
}

std::vector<std::string> NetworkWeights::sparse_layers() const {
  return inference::sparse_layers(method_.posterior, posterior_->model().layout());
}

inference::Matrix<float> NetworkWeights::host_weights_now() {
  inference::Matrix<float> memory;
  return inference::host_copy<float>(weights_now(memory).block(0, 1), particles_.device());
}

double NetworkWeights::divergence(const NoiseKey& key) {
  STEIN_CHECK(kind() == MethodKind::variational, "only a variational method has a divergence from the prior");
  std::vector<double> value(static_cast<std::size_t>(particles_.rows()));
  posterior_->evaluate_prior(particles_.coordinates(), key, value);
  return -std::accumulate(value.begin(), value.end(), 0.0) / static_cast<double>(value.size());
}

void NetworkWeights::save_weights(Snapshot& snapshot) const {
  snapshot.put_saved("particles", particles_);
  snapshot.put_saved("target", *posterior_);
}

void NetworkWeights::restore_weights(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  posterior_->restore(snapshot.part("target"));
}

}  // namespace stein::training
