#include <stein/core/rng.h>
#include <stein/policies/bootstrap_policy.h>

#include <cmath>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<BootstrapPolicy>(
    "bootstrap", "particles that each learn from a bootstrapped history of their own",
    neural_defaults<BootstrapPolicy::Options>("optimizer"));

/// The Poisson(1) variable at the quantile u < 1.
float poisson(double u) {
  double term = std::exp(-1.0), sum = term;
  float count = 0;
  for (; u >= sum && count < 20; sum += term) term /= static_cast<double>(++count);
  return count;
}

}  // namespace

BootstrapPolicy::BootstrapPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : ParticlePolicy(options, spec, seed) {}

void BootstrapPolicy::shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  ParticlePolicy::shape(interactions, batch);
  const std::int64_t n = interactions.rows, particles = particles_.rows();
  counts_.resize(static_cast<std::size_t>(particles * n));
  for (std::int64_t row = 0; row < n; ++row) {
    const auto number = static_cast<std::uint64_t>(interactions.numbers[static_cast<std::size_t>(row)]);
    Draws draws({seed_, number, Stream::perturbation}, 0);
    const float weight = batch.row_weights.empty() ? 1 : batch.row_weights[static_cast<std::size_t>(row)];
    for (std::int64_t i = 0; i < particles; ++i) counts_[i * n + row] = weight * poisson(draws.uniform());
  }
  batch.row_weights = counts_;
  batch.weights_per_particle = true;
}

}  // namespace stein::policies
