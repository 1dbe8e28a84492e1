#include <stein/policies/function_svgd_policy.h>

namespace stein::policies {
namespace {

const bool registered = register_bandit_policy<FunctionSvgdPolicy>(
    "function-svgd", "Stein Thompson sampling, what particles predict is pushed apart instead of their weights",
    anchored_defaults<FunctionSvgdPolicy::Options>("optimizer"));

}  // namespace

FunctionSvgdPolicy::FunctionSvgdPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                                       inference::Device device)
    : ParticlePolicy(options, spec, seed, device), score_(options.kernel) {
  STEIN_CHECK(!options.learn_noise_precision,
              "option 'learn_noise_precision': function-svgd has a given precision, or noise_per_arm");
}

void FunctionSvgdPolicy::shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  ParticlePolicy::shape(interactions, batch);
  const std::int64_t n = batch.rows, rows = particles_.rows() * n;
  if (!arm_noise_ && options_.likelihood == inference::Likelihood::gaussian) {  // γ as weights of the rows
    weights_.assign(static_cast<std::size_t>(n), static_cast<float>(options_.noise_precision));
    for (std::size_t i = 0; i < interactions.weights.size(); ++i) weights_[i] *= interactions.weights[i];
    batch.row_weights = weights_;
  }
  predictions_.resize(static_cast<std::size_t>(rows * network_.outputs));
  const inference::MatrixView<float> predictions(predictions_.data(), rows, network_.outputs);
  posterior_->model().predict({network_weights(), 0}, batch.inputs, predictions);
  score_.prepare(batch, predictions, options_.likelihood);
  batch.score = &score_;  // has targets and weights of rows already: the batch goes without, or they would count twice
  batch.targets = {}, batch.row_weights = {}, batch.outputs = {};
  batch.targets_per_particle = batch.weights_per_particle = false;
}

}  // namespace stein::policies
