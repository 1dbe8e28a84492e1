#include <stein/core/rng.h>
#include <stein/policies/perturbed_rewards.h>

#include <cmath>

namespace stein::policies {

void PerturbedRewards::apply(const InteractionBatch& interactions,
                             const std::function<double(std::int64_t)>& precision_of, inference::Batch<float>& batch) {
  const auto n = static_cast<std::size_t>(interactions.rows), particles = noise_.size();
  targets_.resize(particles * n);
  for (std::size_t row = 0; row < n; ++row) {
    const auto number = static_cast<std::uint64_t>(interactions.numbers[row]);
    fill_normal(std::span(noise_), {seed_, number, Stream::perturbation}, 0);
    const double weight = interactions.weights.empty() ? 1 : double{interactions.weights[row]};
    const double precision = weight * precision_of(interactions.actions[row]);
    const auto deviation = static_cast<float>(precision > 0 ? 1 / std::sqrt(precision) : 0);
    for (std::size_t i = 0; i < particles; ++i) {
      const std::size_t target = batch.targets_per_particle ? i * n + row : row;
      targets_[i * n + row] = batch.targets.data[target] + deviation * noise_[i];
    }
  }
  batch.targets = {targets_.data(), std::ssize(targets_), 1};
  batch.targets_per_particle = true;
}

}  // namespace stein::policies
