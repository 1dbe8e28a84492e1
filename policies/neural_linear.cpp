#include <stein/policies/neural_linear.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

/// A prior of functions, so that hidden layers do not learn the noise of single rewards by heart.
const bool registered = register_bandit_policy<NeuralLinear>(
    "neural-linear", "Thompson sampling with a Bayesian linear regression on a network's last hidden layer", [] {
      auto options = neural_defaults<NeuralLinear::Options>("optimizer");
      options.posterior.prior_scale = inference::PriorScale::functions;
      options.posterior.functions.function_deviation = 3;
      return options;
    }());

LinTs::Options regression_of(const NeuralLinear::Options& options, const envs::BanditSpec& features) {
  return {.prior_precision = options.prior_precision,
          .prior_shape = options.prior_shape,
          .prior_rate = options.prior_rate,
          .intercept = features.arm_features == 0,
          .scale_rewards = options.scale_rewards,
          .regression = features.arm_features > 0 ? RegressionForm::common : RegressionForm::disjoint};
}

/// The bandit as the regressions see it: a joint network gives every arm its features.
envs::BanditSpec features_of_bandit(const NeuralLinear::Options& options, const envs::BanditSpec& spec,
                                    const RewardInputs& inputs) {
  STEIN_CHECK(!options.hidden.empty(),
              "option 'hidden': neural-linear regresses on the last hidden layer, expected at least one width");
  envs::BanditSpec features = spec;
  features.active_columns = 0;
  features.context_size = inputs.joint() ? 0 : options.hidden.back();
  features.arm_features = inputs.joint() ? options.hidden.back() : 0;
  return features;
}

inference::MlpSpec extractor_of(const NeuralLinear::Options& options, const inference::MlpSpec& network) {
  inference::MlpSpec extractor{.inputs = network.inputs,
                               .hidden = options.hidden,
                               .outputs = options.hidden.back(),
                               .activation = network.activation};
  extractor.hidden.pop_back();
  return extractor;
}

inference::NetworkPosteriorOptions without_prior(inference::Arithmetic arithmetic) {
  inference::NetworkPosteriorOptions options;
  options.flat_prior = true;
  options.arithmetic = arithmetic;
  return options;
}

}  // namespace

NeuralLinear::NeuralLinear(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                           inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, 1, 1, device),
      refresh_every_(options.refresh_every),
      feature_spec_(features_of_bandit(options, spec, inputs_)),
      extractor_(inference::make_network_posterior(without_prior(options.posterior.arithmetic),
                                                   extractor_of(options, network_), device)),
      linear_(regression_of(options, feature_spec_), feature_spec_, seed) {
  STEIN_CHECK(options.likelihood == inference::Likelihood::gaussian,
              "option 'likelihood': neural-linear regresses, which needs gaussian, got bernoulli");
  STEIN_CHECK(options.average_steps == 0,
              "option 'average_steps': neural-linear decides by regressions on the features of the last update, "
              "expected 0, got {}",
              options.average_steps);
}

inference::MatrixView<const float> NeuralLinear::features_of(const inference::Inputs<float>& inputs) {
  const std::int64_t rows = inputs.rows(), width = options_.hidden.back();
  features_.resize(static_cast<std::size_t>(rows * width));
  // Its layers are the first of the network: so are its weights.
  inference::MatrixView<const float> weights = network_weights();
  weights.columns = extractor_->weight_layout().size();
  extractor_->model().predict({weights, 0}, inputs, {features_.data(), rows, width});
  const bool relu = options_.activation == inference::Activation::relu;
  for (float& unit : features_) unit = relu ? std::max(unit, 0.0F) : std::tanh(unit);
  return {features_.data(), rows, width};
}

envs::Context NeuralLinear::feature_context(const envs::Context& context) {
  features_of(inputs_.of_context(context));
  envs::Context seen{.present = context.present};
  (feature_spec_.arm_features > 0 ? seen.arm_features : seen.dense) = features_;
  return seen;
}

Decision NeuralLinear::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  return linear_.decide(feature_context(context), step, wanted);
}

void NeuralLinear::observe(const envs::Context& context, const Outcome& outcome) {
  NeuralPolicy::observe(context, outcome);
  linear_.observe(feature_context(context), outcome);
}

void NeuralLinear::revisit(const InteractionBatch& window) {
  features_of(inputs_.of_batch(window));
  InteractionBatch seen = window;
  seen.dense = {}, seen.active = {}, seen.arm_features = {};
  (feature_spec_.arm_features > 0 ? seen.arm_features : seen.dense) = features_;
  linear_.revisit(seen);
}

std::vector<std::vector<double>> NeuralLinear::posterior_rewards(const envs::Context& context) {
  return linear_.posterior_rewards(feature_context(context));
}

void NeuralLinear::save(Snapshot& snapshot) const {
  NeuralPolicy::save(snapshot);
  snapshot.put_saved("regressions", linear_);
}

void NeuralLinear::restore(const Snapshot& snapshot) {
  NeuralPolicy::restore(snapshot);
  linear_.restore(snapshot.part("regressions"));
}

}  // namespace stein::policies
