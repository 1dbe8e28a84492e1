#include <stein/core/rng.h>
#include <stein/inference/diagnostics/collapse_meter.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/priors/anchors.h>
#include <stein/inference/storage/device_number.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/policies/particle_policy.h>

#include <cmath>
#include <string>
#include <utility>

namespace stein::policies {
namespace {

using inference::WeightForm;
using Options = ParticlePolicy::Options;

/// Chains of a sampler with steps of h/(1 + t/4000). The curvature of the posterior grows with the interactions and
/// with the precisions of noise that they show, so a step that stays, or begins too large, leaves the finite numbers
/// one day: on shuttle SGLD's 1e-5 did after 3,700, SGHMC's 1e-6 without decay after 2,800.
Options decaying_defaults(const std::string& sampler, const char* step_size) {
  auto options = function_prior_defaults<Options>(sampler);
  OptionTable table = OptionTable::of(options.sampler);
  for (const auto& [option, value] :
       {std::pair{"step_size", step_size}, {"step_decay_steps", "4000"}, {"step_decay_exponent", "1"}})
    table.set(option, value);
  return options;
}

/// Defaults of the paper's two policies, SVGD on weights and on factors; the paper's settings are their preset.
Options stein_defaults(WeightForm form) {
  auto options = anchored_defaults<Options>("svgd", form);
  options.paper = published_settings(form, "Zhang et al. 2018, §3: precisions are sampled, rewards are as they come");
  options.paper->settings.insert({{"particles", "20"},
                                  {"hidden", "50,50"},
                                  {"activation", "relu"},
                                  {"kernel", "rbf"},
                                  {"bandwidth_rule", "median"},
                                  {"optimizer", "adam"},
                                  {"step_size", "0.001"}});
  return options;
}

const bool registered =
    register_bandit_policy<ParticlePolicy>("svgd", "Stein Thompson sampling, particles of plain weights",
                                           stein_defaults(WeightForm::direct)) &&
    register_bandit_policy<ParticlePolicy>("s2vgd",
                                           "Stein Thompson sampling, particles of matrix-Gaussian (structured) weights",
                                           stein_defaults(WeightForm::matrix_gaussian)) &&
    register_bandit_policy<ParticlePolicy>(
        "ensemble", "networks that each learn on their own from the same rewards: a deep ensemble",
        plain_particle_defaults<Options>("optimizer")) &&
    register_bandit_policy<ParticlePolicy>(
        "anchored", "ensemble sampling: particles with priors around draws of their own and perturbed rewards",
        anchored_defaults<Options>("optimizer")) &&
    register_bandit_policy<ParticlePolicy>("sgld", "Thompson sampling from chains of stochastic gradient Langevin",
                                           decaying_defaults("sgld", "3e-6")) &&
    register_bandit_policy<ParticlePolicy>("psgld", "Thompson sampling from chains of preconditioned Langevin dynamics",
                                           function_prior_defaults<Options>("psgld")) &&
    register_bandit_policy<ParticlePolicy>("sghmc", "Thompson sampling from chains of stochastic gradient HMC",
                                           decaying_defaults("sghmc", "1e-6"));

}  // namespace

Preset published_settings(WeightForm form, std::string description) {
  Preset paper{.name = "paper",
               .description = std::move(description),
               .settings = {{"anchors", "false"},
                            {"noise_per_arm", "false"},
                            {"prior_scale", "weights"},
                            {"draw", "one"},
                            {"learn_noise_precision", "true"},
                            {"learn_weight_precision", "true"},
                            {"scale_rewards", "false"}}};
  if (form == WeightForm::direct) paper.settings.insert({{"noise_precision", "1"}});
  if (form == WeightForm::matrix_gaussian)
    paper.settings.insert({{"learn_reflector_precision", "true"}, {"reflectors", "8"}, {"scale_deviation", "1"}});
  return paper;
}

Preset published_likelihood(WeightForm form) {
  return published_settings(form,
                            "the likelihood and the prior of Zhang et al. 2018, §3, who do not have this policy: "
                            "precisions are sampled, rewards are as they come");
}

ParticlePolicy::ParticlePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed,
                               inference::Device device)
    : NeuralPolicy(checked(options), spec, seed, options.particles, options.particles, device),
      draw_(options.draw),
      prior_function_scale_(options.prior_function_scale) {
  STEIN_CHECK(options.prior_function_scale == 0 || options.likelihood == inference::Likelihood::gaussian,
              "option 'prior_function_scale' needs the gaussian likelihood, got bernoulli");
  if (prior_function_scale_ > 0) make_prior_functions();
  if (options.anchors) make_anchors(options);
  start_variance_ = weight_variance();
}

std::optional<double> ParticlePolicy::temperature() const {
  const bool anchored = perturbed_ || click_counts_;
  if (const auto of_chain = options_.sampler.temperature()) {
    if (anchored) return {};  // chains around draws: about twice the posterior's variance, at no temperature
    return of_chain;
  }
  if (anchored || sampler_.name() == "svgd") return 1;
  return {};
}

void ParticlePolicy::make_anchors(const Options& options) {
  STEIN_CHECK(!options.learn_noise_precision,
              "option 'anchors' perturbs rewards by a noise precision that is given, or noise_per_arm; "
              "learn_noise_precision samples it");
  inference::Particles<float> anchors = particles_.to({});
  inference::draw_from_prior(prior_, anchors, {.seed = seed_, .stream = Stream::initial_values});
  posterior_->multiply_prior(std::make_unique<inference::Anchors<float>>(prior_, anchors, device()));
  particles_ = anchors.to(device());
  if (options.likelihood == inference::Likelihood::gaussian)
    perturbed_.emplace(seed_, particles_.rows());
  else
    click_counts_.emplace(seed_, particles_.rows());
}

void ParticlePolicy::make_prior_functions() {
  inference::Particles<float> coordinates(inference::mlp_layout(network_), particles_.rows());
  inference::initialise_coordinates(coordinates, seed_, 1, Stream::prior_function);
  inference::Matrix<float> weights(particles_.rows(), posterior_->weight_layout().size());
  inference::add_padding<float>(posterior_->weight_layout(), coordinates.values(), weights.view());
  prior_weights_ = weights.to(device());
}

void ParticlePolicy::add_to_predictions(std::int64_t first, std::int64_t count, const inference::Inputs<float>& inputs,
                                        inference::MatrixView<float> outputs) {
  if (prior_weights_.empty()) return;
  const auto numbers = static_cast<std::size_t>(outputs.rows * outputs.columns);
  prior_outputs_.resize(numbers);
  posterior_->model().predict({prior_weights_.view().block(first, count), 0}, inputs,
                              {prior_outputs_.data(), outputs.rows, outputs.columns});
  const auto scale = static_cast<float>(prior_function_scale_);
  for (std::size_t i = 0; i < numbers; ++i) outputs.data[i] += scale * prior_outputs_[i];
}

Decision ParticlePolicy::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  return decide_by(draw_, context, step, wanted);
}

void ParticlePolicy::shape(const InteractionBatch& interactions, inference::Batch<float>& batch) {
  if (!prior_weights_.empty()) subtract_prior_functions(batch);
  if (click_counts_) click_counts_->apply(interactions, batch);
  if (perturbed_)
    perturbed_->apply(
        interactions, [this](std::int64_t arm) { return noise_precision(arm); }, batch);
}

void ParticlePolicy::subtract_prior_functions(inference::Batch<float>& batch) {
  const std::int64_t n = batch.rows, rows = particles_.rows() * n, columns = network_.outputs;
  prior_outputs_.resize(static_cast<std::size_t>(rows * columns));
  own_targets_.resize(static_cast<std::size_t>(rows));
  posterior_->model().predict({prior_weights_.view(), 0}, batch.inputs, {prior_outputs_.data(), rows, columns});
  const auto scale = static_cast<float>(prior_function_scale_);
  for (std::int64_t i = 0; i < rows; ++i)
    own_targets_[i] = batch.targets(i % n, 0) - scale * prior_outputs_[i * columns + batch.outputs[i % n]];
  batch.targets = {own_targets_.data(), rows, 1};
  batch.targets_per_particle = true;
}

double ParticlePolicy::prior_variance() const {
  double sum = 0, count = 0;
  for (const inference::LayoutEntry& entry : particles_.layout().entries()) {
    if (entry.role != inference::Role::weight) continue;
    double log_precision = std::log(prior_.precision_of(entry));
    if (const auto* learned = particles_.layout().find(prior_.weight_precision_name(entry.layer))) {
      log_precision = 0;
      for (std::int64_t i = 0; i < particles_.rows(); ++i)
        log_precision += inference::number_at(particles_.values().row(i), learned->offset, particles_.device()) /
                         static_cast<double>(particles_.rows());
    }
    const auto size = static_cast<double>(entry.size());
    sum += size * std::exp(-log_precision);
    count += size;
  }
  return sum / count;
}

double ParticlePolicy::weight_variance() const {
  const inference::Matrix<float> values = inference::host_copy(particles_.values(), device());
  return inference::mean_variance(values.view(), particles_.layout(), inference::Role::weight);
}

std::vector<std::pair<std::string, double>> ParticlePolicy::diagnostics() const {
  if (particles_.rows() == 1) return {};
  const double variance = weight_variance();
  std::vector<std::pair<std::string, double>> found{{"variance_to_prior", variance / prior_variance()}};
  if (start_variance_ > 0) found.emplace_back("collapse", variance / start_variance_);
  return found;
}

}  // namespace stein::policies
