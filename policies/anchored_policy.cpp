#include <stein/core/rng.h>
#include <stein/inference/priors/anchors.h>
#include <stein/policies/anchored_policy.h>

#include <cmath>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<AnchoredPolicy>(
    "anchored", "ensemble sampling: particles with priors centred at draws of their own and perturbed rewards",
    neural_defaults<AnchoredPolicy::Options>("optimizer"));

}  // namespace

AnchoredPolicy::AnchoredPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : ParticlePolicy(options, spec, seed) {
  STEIN_CHECK(options.likelihood == inference::Likelihood::gaussian,
              "option 'likelihood': rewards are perturbed, which needs gaussian, got bernoulli");
  STEIN_CHECK(!options.learn_noise_precision,
              "option 'learn_noise_precision': perturbations need a given precision, or noise_per_arm");
  inference::draw_from_prior(prior_, particles_, {.seed = seed, .stream = Stream::initial_values});
  posterior_->multiply_prior(std::make_unique<inference::Anchors<float>>(prior_, particles_));
}

void AnchoredPolicy::shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  ParticlePolicy::shape(interactions, batch);
  const auto n = static_cast<std::size_t>(interactions.rows), particles = static_cast<std::size_t>(particles_.rows());
  perturbed_.resize(particles * n);
  noise_.resize(particles);
  for (std::size_t row = 0; row < n; ++row) {
    fill_normal(std::span(noise_), {seed_, static_cast<std::uint64_t>(interactions.numbers[row]), Stream::perturbation},
                0, static_cast<std::uint64_t>(particles_.first_row()));
    const double weight = interactions.weights.empty() ? 1 : interactions.weights[row];
    const double precision = weight * noise_precision(interactions.actions[row]);
    const auto deviation = static_cast<float>(precision > 0 ? 1 / std::sqrt(precision) : 0);
    for (std::size_t i = 0; i < particles; ++i) {
      const std::size_t target = batch.targets_per_particle ? i * n + row : row;
      perturbed_[i * n + row] = batch.targets.data[target] + deviation * noise_[i];
    }
  }
  batch.targets = {perturbed_.data(), std::ssize(perturbed_), 1};
  batch.targets_per_particle = true;
}

}  // namespace stein::policies
