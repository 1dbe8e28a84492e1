#include <stein/core/rng.h>
#include <stein/policies/distribution_policy.h>

namespace stein::policies {
namespace {

using inference::WeightForm;
using Options = DistributionPolicy::Options;

/// A Gaussian of weights, fitted as an expert would. Its divergence from the prior of thousands of weights outweighs
/// some hundred rewards, and it stays where it is: so the likelihood is taken to the power of 64.
Options fitted(WeightForm form) {
  Options options = neural_defaults<Options>("optimizer", form);
  options.likelihood_power = 64;
  options.posterior.prior_law = inference::PriorLaw::gaussian;
  options.posterior.prior_scale = inference::PriorScale::functions;
  options.posterior.functions.function_deviation = 2;
  OptionTable::of(options.sampler).set("step_size", "0.003");
  return options;
}

/// Gradients of networks with units dropped are noisier than others, and want smaller steps.
Options dropped() {
  auto options = plain_network_defaults<Options>("optimizer", WeightForm::dropout);
  OptionTable::of(options.sampler).set("step_size", "0.0003");
  return options;
}

const bool registered =
    register_bandit_policy<DistributionPolicy>(
        "vmg",
        "Thompson sampling from a Gaussian fitted to the posterior, each weight matrix with its own rows and columns",
        fitted(WeightForm::variational_matrix_gaussian)) &&
    register_bandit_policy<DistributionPolicy>(
        "bbb", "Thompson sampling from Bayes by Backprop: a Gaussian of every weight fitted to the posterior",
        fitted(WeightForm::mean_field)) &&
    register_bandit_policy<DistributionPolicy>(
        "dropout", "Thompson sampling from a network with hidden units dropped at random", dropped());

}  // namespace

DistributionPolicy::DistributionPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                                       inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, 1, options.particles, device),
      draw_(options.draw),
      likelihood_power_(options.likelihood_power) {
  STEIN_CHECK(options.average_steps == 0,
              "option 'average_steps': averages of networks that are drawn anew at every update would have next to "
              "nothing of their noise, expected 0, got {}",
              options.average_steps);
}

void DistributionPolicy::make_networks(std::int64_t first, std::int64_t count, inference::MatrixView<float> weights) {
  // The one row over and over: its draws are told apart by their number, and begin after those that learning uses.
  inference::ParticleRows<const float> rows = particles_.coordinates();
  rows.values = {rows.values.data, count, rows.values.columns, 0};
  rows.first_row = 1 + first;
  posterior_->effective_weights(rows, {.seed = seed_, .step = static_cast<std::uint64_t>(updates_)}, weights);
}

void DistributionPolicy::shape(const InteractionBatch&, inference::Batch<float>& batch) {
  batch.data_size *= likelihood_power_;
}

Decision DistributionPolicy::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  return decide_by(draw_, context, step, wanted);
}

}  // namespace stein::policies
