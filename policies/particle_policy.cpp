#include <stein/core/rng.h>
#include <stein/inference/collapse_meter.h>
#include <stein/inference/direct.h>
#include <stein/policies/particle_policy.h>

#include <algorithm>
#include <cmath>

namespace stein::policies {
namespace {

using inference::Inputs;
using inference::MatrixView;

ParticlePolicy::Options defaults_of(bool repulsion, inference::WeightForm form) {
  ParticlePolicy::Options options;
  options.repulsion = repulsion;
  options.posterior.parameterization = form;
  return options;
}

ParticlePolicy::Options greedy_defaults() {
  ParticlePolicy::Options options = defaults_of(false, inference::WeightForm::direct);
  options.particles = 1;
  options.draw = Draw::mean;
  options.epsilon = 0.05;
  return options;
}

const bool registered =
    register_bandit_policy<ParticlePolicy>("svgd", "Stein Thompson sampling, particles of plain weights",
                                           defaults_of(true, inference::WeightForm::direct)) &&
    register_bandit_policy<ParticlePolicy>("s2vgd",
                                           "Stein Thompson sampling, particles of matrix-Gaussian (structured) weights",
                                           defaults_of(true, inference::WeightForm::matrix_gaussian)) &&
    register_bandit_policy<ParticlePolicy>("ensemble", "the particles of svgd without repulsion: the control",
                                           defaults_of(false, inference::WeightForm::direct)) &&
    register_bandit_policy<ParticlePolicy>(
        "epsilon-greedy", "one neural network, and a uniform arm with probability epsilon", greedy_defaults());

inference::MlpSpec network_of(const ParticlePolicy::Options& options, const envs::BanditSpec& spec) {
  return {.inputs = spec.context_size,
          .hidden = options.hidden,
          .outputs = spec.arms,
          .activation = options.activation,
          .likelihood = options.likelihood,
          .noise_precision = options.noise_precision,
          .learn_noise_precision = options.learn_noise_precision};
}

std::unique_ptr<inference::Sampler<float>> make_sampler(const ParticlePolicy::Options& options, std::int64_t size,
                                                        std::uint64_t seed) {
  if (options.repulsion)
    return std::make_unique<inference::Svgd<float>>(options.sampler, options.particles, size, seed);
  return std::make_unique<inference::Optimizer<float>>(options.sampler.optimizer, options.particles, size, seed);
}

/// Gives every arm whose value is the largest an equal part of `share`.
void add_best(std::span<const float> values, double share, std::span<double> propensities) {
  const float best = *std::ranges::max_element(values);
  const auto ties = std::ranges::count(values, best);
  for (std::size_t a = 0; a < values.size(); ++a)
    if (values[a] == best) propensities[a] += share / static_cast<double>(ties);
}

/// One of the largest values, each with the same probability.
std::int64_t draw_best(std::span<const float> values, Draws& draws) {
  const float best = *std::ranges::max_element(values);
  auto skip = draws.integer(static_cast<std::uint32_t>(std::ranges::count(values, best)));
  for (std::size_t a = 0;; ++a)
    if (values[a] == best && skip-- == 0) return static_cast<std::int64_t>(a);
}

}  // namespace

ParticlePolicy::ParticlePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : options_(options),
      arms_(spec.arms),
      context_size_(spec.context_size),
      active_columns_(spec.active_columns),
      seed_(seed),
      reward_scale_(options.scale_rewards && options.likelihood == inference::Likelihood::gaussian
                        ? static_cast<float>(1 / spec.reward_deviation)
                        : 1.0f),
      posterior_(inference::make_network_posterior(options.posterior, network_of(options, spec))),
      particles_(posterior_->initial_particles(options.particles, seed, options.initial_spread)),
      sampler_(make_sampler(options, particles_.size(), seed)),
      weights_(static_cast<std::size_t>(options.particles * posterior_->weight_layout().size())),
      propensities_(static_cast<std::size_t>(spec.arms)),
      mean_(static_cast<std::size_t>(spec.arms)) {
  STEIN_CHECK(options.likelihood != inference::Likelihood::categorical,
              "a bandit's rewards need a gaussian or bernoulli likelihood");
  if (options.prior_function_scale > 0) make_prior_functions(network_of(options, spec));
}

void ParticlePolicy::make_prior_functions(const inference::MlpSpec& network) {
  inference::Particles<float> coordinates(inference::mlp_layout(network), options_.particles);
  inference::initialise_coordinates(coordinates, seed_, 1, Stream::prior_function);
  const std::int64_t size = posterior_->weight_layout().size();
  prior_weights_ = inference::AlignedBuffer<float>(static_cast<std::size_t>(options_.particles * size));
  inference::Direct<float>(posterior_->weight_layout())
      .forward(coordinates.coordinates(), 0, {}, {prior_weights_.data(), options_.particles, size});
}

Inputs<float> ParticlePolicy::inputs_of(std::span<const float> dense, std::span<const std::int32_t> active,
                                        std::int64_t rows) const {
  Inputs<float> inputs;
  if (active_columns_ > 0)
    inputs.indices = {active.data(), rows, active_columns_};
  else
    inputs.dense = {dense.data(), rows, context_size_};
  return inputs;
}

void ParticlePolicy::predict(const Inputs<float>& inputs, MatrixView<float> outputs) {
  const std::int64_t size = posterior_->weight_layout().size();
  const MatrixView<float> weights{weights_.data(), options_.particles, size};
  if (!weights_current_) posterior_->effective_weights(particles_.coordinates(), {}, weights);
  weights_current_ = true;
  posterior_->model().predict({weights, 0}, inputs, outputs);
  if (prior_weights_.size() == 0) return;
  prior_outputs_.resize(static_cast<std::size_t>(outputs.rows * arms_));
  posterior_->model().predict({MatrixView<const float>{prior_weights_.data(), options_.particles, size}, 0}, inputs,
                              {prior_outputs_.data(), outputs.rows, arms_});
  const auto scale = static_cast<float>(options_.prior_function_scale);
  for (std::size_t i = 0; i < prior_outputs_.size(); ++i) outputs.data[i] += scale * prior_outputs_[i];
}

Decision ParticlePolicy::decide(const envs::Context& context, std::int64_t step) {
  const std::int64_t rows = options_.particles;
  outputs_.resize(static_cast<std::size_t>(rows * arms_));
  const MatrixView<float> outputs{outputs_.data(), rows, arms_};
  predict(inputs_of(context.dense, context.active, 1), outputs);

  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  std::ranges::fill(propensities_, options_.epsilon / static_cast<double>(arms_));
  std::int64_t action;
  if (options_.draw == Draw::mean) {
    std::ranges::fill(mean_, 0);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t a = 0; a < arms_; ++a) mean_[a] += outputs(i, a);
    action = std::ranges::max_element(mean_) - mean_.begin();
    propensities_[action] += 1 - options_.epsilon;
  } else {
    for (std::int64_t i = 0; i < rows; ++i)
      add_best(outputs.row(i), (1 - options_.epsilon) / static_cast<double>(rows), propensities_);
    action = draw_best(outputs.row(draws.integer(static_cast<std::uint32_t>(rows))), draws);
  }
  if (options_.epsilon > 0 && draws.uniform() < options_.epsilon)
    action = draws.integer(static_cast<std::uint32_t>(arms_));
  return {.action = action,
          .propensities = propensities_,
          .deterministic = options_.draw == Draw::mean && options_.epsilon == 0};
}

void ParticlePolicy::learn(const InteractionBatch& batch) {
  const std::int64_t n = batch.rows;
  inference::Batch<float> data;
  data.inputs = inputs_of(batch.dense, batch.active, n);
  data.outputs = batch.actions;
  data.rows = n;
  data.data_size = static_cast<double>(batch.window);
  data.unit = "interactions";
  const bool own_targets = prior_weights_.size() > 0;
  const std::int64_t rows = own_targets ? options_.particles : 1;
  targets_.resize(static_cast<std::size_t>(rows * n));
  if (own_targets) {
    prior_outputs_.resize(static_cast<std::size_t>(rows * n * arms_));
    const MatrixView<const float> weights{prior_weights_.data(), rows, posterior_->weight_layout().size()};
    posterior_->model().predict({weights, 0}, data.inputs, {prior_outputs_.data(), rows * n, arms_});
  }
  const auto scale = static_cast<float>(options_.prior_function_scale);
  for (std::int64_t i = 0; i < rows * n; ++i) {
    targets_[i] = reward_scale_ * batch.rewards[i % n];
    if (own_targets) targets_[i] -= scale * prior_outputs_[i * arms_ + batch.actions[i % n]];
  }
  data.targets = {targets_.data(), rows * n, 1};
  data.targets_per_particle = own_targets;
  weights_current_ = false;
  sampler_->step(particles_, *posterior_, data);
}

std::vector<std::pair<std::string, double>> ParticlePolicy::diagnostics() const {
  if (options_.particles == 1) return {};
  double precision = options_.posterior.prior.weight_precision;
  if (const inference::LayoutEntry* entry = particles_.layout().find("log_weight_precision")) {
    double sum = 0;
    for (std::int64_t i = 0; i < options_.particles; ++i) sum += particles_.values()(i, entry->offset);
    precision = std::exp(sum / static_cast<double>(options_.particles));
  }
  return {{"collapse", inference::variance_ratio(particles_.values(), particles_.layout(), inference::Role::weight,
                                                 1 / precision)}};
}

std::vector<std::vector<double>> ParticlePolicy::posterior_rewards(const envs::Context& context) {
  outputs_.resize(static_cast<std::size_t>(options_.particles * arms_));
  predict(inputs_of(context.dense, context.active, 1), {outputs_.data(), options_.particles, arms_});
  std::vector<std::vector<double>> rewards;
  for (std::int64_t i = 0; i < options_.particles; ++i) {
    std::vector<double>& row = rewards.emplace_back();
    for (std::int64_t a = 0; a < arms_; ++a) {
      const double output = outputs_[i * arms_ + a];
      row.push_back(options_.likelihood == inference::Likelihood::bernoulli ? 1 / (1 + std::exp(-output))
                                                                            : output / reward_scale_);
    }
  }
  return rewards;
}

void ParticlePolicy::save(Snapshot& snapshot) const {
  Snapshot particles, sampler;
  particles_.save(particles);
  sampler_->save(sampler);
  snapshot.put_part("particles", particles);
  snapshot.put_part("sampler", sampler);
}

void ParticlePolicy::restore(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  sampler_->restore(snapshot.part("sampler"));
  weights_current_ = false;
}

}  // namespace stein::policies
