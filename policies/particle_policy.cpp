#include <stein/core/rng.h>
#include <stein/inference/diagnostics/collapse_meter.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/policies/particle_policy.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace stein::policies {
namespace {

using inference::MatrixView;

/// What a name fixes: a registered sampler, and what it moves.
ParticlePolicy::Options defaults_of(std::string_view sampler,
                                    inference::WeightForm form = inference::WeightForm::direct) {
  ParticlePolicy::Options options;
  options.sampler = inference::samplers().at(sampler).defaults;
  options.posterior.parameterization = form;
  return options;
}

ParticlePolicy::Options greedy_defaults() {
  ParticlePolicy::Options options = defaults_of("optimizer");
  options.single = true;
  options.particles = 1;
  options.draw = Draw::mean;
  options.epsilon = 0.05;
  return options;
}

/// Rows of coordinates that the sampler moves: one if the networks are drawn from what it describes.
std::int64_t moved_rows(const ParticlePolicy::Options& options) {
  return options.posterior.distributes_weights() ? 1 : options.particles;
}

const bool registered =
    register_bandit_policy<ParticlePolicy>("svgd", "Stein Thompson sampling, particles of plain weights",
                                           defaults_of("svgd")) &&
    register_bandit_policy<ParticlePolicy>("s2vgd",
                                           "Stein Thompson sampling, particles of matrix-Gaussian (structured) weights",
                                           defaults_of("svgd", inference::WeightForm::matrix_gaussian)) &&
    register_bandit_policy<ParticlePolicy>(
        "vmg",
        "Thompson sampling from a Gaussian fitted to the posterior, each weight matrix with its own rows and columns",
        defaults_of("optimizer", inference::WeightForm::variational_matrix_gaussian)) &&
    register_bandit_policy<ParticlePolicy>("ensemble", "the particles of svgd without repulsion: the control",
                                           defaults_of("optimizer")) &&
    register_bandit_policy<ParticlePolicy>(
        "epsilon-greedy", "one neural network, and a uniform arm with probability epsilon", greedy_defaults());

inference::MlpSpec network_of(const ParticlePolicy::Options& options, const RewardInputs& inputs) {
  return {.inputs = inputs.columns(),
          .hidden = options.hidden,
          .outputs = inputs.outputs(),
          .activation = options.activation,
          .likelihood = options.likelihood,
          .noise_precision = options.noise_precision,
          .learn_noise_precision = options.learn_noise_precision};
}

/// Gives every arm whose value is the largest an equal part of one vote.
template <class Value>
void vote(std::span<const Value> values, std::span<double> votes) {
  const Value best = *std::ranges::max_element(values);
  const auto ties = std::ranges::count(values, best);
  for (std::size_t a = 0; a < values.size(); ++a)
    if (values[a] == best) votes[a] += 1 / static_cast<double>(ties);
}

/// One of the largest values, each with the same probability.
template <class Value>
std::int64_t draw_best(std::span<const Value> values, Draws& draws) {
  const Value best = *std::ranges::max_element(values);
  auto skip = draws.integer(static_cast<std::uint32_t>(std::ranges::count(values, best)));
  for (std::size_t a = 0;; ++a)
    if (values[a] == best && skip-- == 0) return static_cast<std::int64_t>(a);
}

}  // namespace

ParticlePolicy::ParticlePolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed)
    : options_(checked(options)),
      spec_(spec),
      seed_(seed),
      inputs_(options.network, spec),
      unit_(spec),
      posterior_(inference::make_network_posterior(options.posterior, network_of(options, inputs_))),
      particles_(posterior_->initial_particles(moved_rows(options), seed, options.initial_spread)),
      sampler_(options.sampler.make(particles_.ensemble(seed, options.posterior.arithmetic))),
      weights_(options.particles * posterior_->weight_samples(), posterior_->weight_layout().size()),
      current_(static_cast<std::size_t>(options.particles)),
      start_variance_(inference::mean_variance(particles_.values(), particles_.layout(), inference::Role::weight)) {
  STEIN_CHECK(options.likelihood != inference::Likelihood::categorical,
              "a bandit's rewards need a gaussian or bernoulli likelihood");
  const bool bernoulli = options.likelihood == inference::Likelihood::bernoulli;
  STEIN_CHECK(!bernoulli || (spec.reward_low >= 0 && spec.reward_high <= 1),
              "option 'likelihood': bernoulli needs rewards in [0, 1], those of {} average from {} to {}", spec.name,
              spec.reward_low, spec.reward_high);
  STEIN_CHECK(!options.posterior.distributes_weights() || options.prior_function_scale == 0,
              "option 'prior_function_scale' is for particles that learn, not for networks drawn from a distribution");
  STEIN_CHECK(!bernoulli || options.prior_function_scale == 0,
              "option 'prior_function_scale' needs the gaussian likelihood, got bernoulli");
  if (options.prior_function_scale > 0) make_prior_functions(network_of(options, inputs_));
}

void ParticlePolicy::make_prior_functions(const inference::MlpSpec& network) {
  inference::Particles<float> coordinates(inference::mlp_layout(network), options_.particles);
  inference::initialise_coordinates(coordinates, seed_, 1, Stream::prior_function);
  prior_weights_ = inference::Matrix<float>(options_.particles, posterior_->weight_layout().size());
  inference::add_padding<float>(posterior_->weight_layout(), coordinates.values(), prior_weights_.view());
}

MatrixView<const float> ParticlePolicy::networks(std::int64_t first, std::int64_t count) {
  const auto wanted = std::span(current_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  if (std::ranges::none_of(wanted, std::identity()))
    make_networks(first, count);
  else
    for (std::int64_t i = first; i < first + count; ++i)
      if (current_[static_cast<std::size_t>(i)] == 0) make_networks(i, 1);
  std::ranges::fill(wanted, 1);
  MatrixView<const float> first_draws = weights_.view();  // of each particle
  first_draws.rows = options_.particles, first_draws.stride *= posterior_->weight_samples();
  return first_draws.block(first, count);
}

void ParticlePolicy::make_networks(std::int64_t first, std::int64_t count) {
  inference::ParticleRows<const float> rows = particles_.coordinates();
  if (options_.posterior.distributes_weights()) {
    // The one row over and over: its draws are told apart by their number, and begin after those that learning uses.
    rows.values = {rows.values.data, count, rows.values.columns, 0};
    rows.first_row = 1 + first;
  } else {
    rows.values = rows.values.block(first, count);
    rows.first_row += first;
  }
  const std::int64_t samples = posterior_->weight_samples();
  posterior_->effective_weights(rows, {.seed = seed_, .step = static_cast<std::uint64_t>(updates_)},
                                weights_.view().block(first * samples, count * samples));
}

MatrixView<const float> ParticlePolicy::predict(const envs::Context& context, std::int64_t first, std::int64_t count) {
  const inference::Inputs<float> inputs = inputs_.of_context(context);
  const std::int64_t rows = count * inputs.rows(), columns = inputs_.outputs(), answers = inputs.rows() * columns;
  outputs_.resize(static_cast<std::size_t>(rows * columns));
  posterior_->model().predict({networks(first, count), 0}, inputs, {outputs_.data(), rows, columns});
  if (!prior_weights_.empty()) {
    prior_outputs_.resize(outputs_.size());
    posterior_->model().predict({prior_weights_.view().block(first, count), 0}, inputs,
                                {prior_outputs_.data(), rows, columns});
    const auto scale = static_cast<float>(options_.prior_function_scale);
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] += scale * prior_outputs_[i];
  }
  const std::span<const std::int32_t> places = inputs_.places(context);
  const std::int64_t choices = std::ssize(places);
  predictions_.resize(static_cast<std::size_t>(count * choices));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < choices; ++k) {
      const float output = outputs_[i * answers + places[k]];
      if (!std::isfinite(output))
        fail(ErrorKind::numeric, "the prediction of arm {} by particle {} is {}", context.arm(k), first + i, output);
      predictions_[i * choices + k] = output;
    }
  return {predictions_.data(), count, choices};
}

double ParticlePolicy::scaled_reward(float output) const {
  return options_.likelihood == inference::Likelihood::bernoulli ? 1 / (1 + std::exp(-double{output})) : output;
}

float ParticlePolicy::reward_scale() const {
  if (!options_.scale_rewards || options_.likelihood != inference::Likelihood::gaussian) return 1;
  return static_cast<float>(1 / unit_.value());
}

Decision ParticlePolicy::decide(const envs::Context& context, std::int64_t step, Propensities wanted) {
  const std::int64_t choices = context.choices(spec_);
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  propensities_.assign(wanted == Propensities::exact ? static_cast<std::size_t>(choices) : 0, 0);
  bool drawn = true;
  std::int64_t place =
      options_.draw == Draw::one ? choose_by_one(context, draws) : choose_by_mean(context, draws, drawn);
  if (options_.epsilon > 0) {
    drawn = true;
    for (double& share : propensities_)
      share = (1 - options_.epsilon) * share + options_.epsilon / static_cast<double>(choices);
    if (draws.uniform() < options_.epsilon) place = draws.integer(static_cast<std::uint32_t>(choices));
  }
  return {.action = context.arm(place), .propensities = propensities_, .deterministic = !drawn};
}

std::int64_t ParticlePolicy::choose_by_one(const envs::Context& context, Draws& draws) {
  const std::int64_t particles = options_.particles;
  const std::int64_t drawn = draws.integer(static_cast<std::uint32_t>(particles));
  if (propensities_.empty()) return draw_best<float>(predict(context, drawn, 1).row(0), draws);
  const MatrixView<const float> predictions = predict(context, 0, particles);
  for (std::int64_t i = 0; i < particles; ++i) vote<float>(predictions.row(i), propensities_);
  for (double& share : propensities_) share /= static_cast<double>(particles);
  return draw_best<float>(predictions.row(drawn), draws);
}

std::int64_t ParticlePolicy::choose_by_mean(const envs::Context& context, Draws& draws, bool& tied) {
  const MatrixView<const float> predictions = predict(context, 0, options_.particles);
  mean_.assign(static_cast<std::size_t>(predictions.columns), 0);
  for (std::int64_t i = 0; i < predictions.rows; ++i)
    for (std::int64_t k = 0; k < predictions.columns; ++k) mean_[k] += scaled_reward(predictions(i, k));
  const auto best = std::ranges::max_element(mean_);
  tied = std::ranges::count(mean_, *best) > 1;
  if (!propensities_.empty()) vote<double>(mean_, propensities_);
  return tied ? draw_best<double>(mean_, draws) : best - mean_.begin();
}

void ParticlePolicy::observe(const envs::Context&, const Outcome& outcome) {
  unit_.observe(outcome.reward);
}

void ParticlePolicy::learn(const InteractionBatch& batch) {
  const std::int64_t n = batch.rows;
  inference::Batch<float> data;
  data.inputs = inputs_.of_batch(batch);
  data.outputs = inputs_.outputs_of(batch);
  data.row_weights = batch.weights;
  data.rows = n;
  data.data_size = static_cast<double>(batch.window);
  const bool own_targets = !prior_weights_.empty();
  const std::int64_t rows = own_targets ? options_.particles : 1, columns = inputs_.outputs();
  targets_.resize(static_cast<std::size_t>(rows * n));
  if (own_targets) {
    prior_outputs_.resize(static_cast<std::size_t>(rows * n * columns));
    posterior_->model().predict({prior_weights_.view(), 0}, data.inputs, {prior_outputs_.data(), rows * n, columns});
  }
  const auto scale = static_cast<float>(options_.prior_function_scale);
  const float reward_scale = this->reward_scale();
  for (std::int64_t i = 0; i < rows * n; ++i) {
    targets_[i] = reward_scale * batch.rewards[i % n];
    if (own_targets) targets_[i] -= scale * prior_outputs_[i * columns + data.outputs[i % n]];
  }
  data.targets = {targets_.data(), rows * n, 1};
  data.targets_per_particle = own_targets;
  std::ranges::fill(current_, 0);
  ++updates_;
  sampler_.step(particles_, *posterior_, data);
}

double ParticlePolicy::prior_variance() const {
  const inference::GaussianPriorOptions& prior = options_.posterior.prior;
  double sum = 0, count = 0;
  for (const inference::LayoutEntry& entry : particles_.layout().entries()) {
    if (entry.role != inference::Role::weight) continue;
    double log_precision = std::log(prior.weight_precision);
    if (const auto* learned = particles_.layout().find(prior.weight_precision_name(entry.layer))) {
      log_precision = 0;
      for (std::int64_t i = 0; i < options_.particles; ++i)
        log_precision += particles_.values()(i, learned->offset) / static_cast<double>(options_.particles);
    }
    const auto size = static_cast<double>(entry.size());
    sum += size * std::exp(-log_precision);
    count += size;
  }
  return sum / count;
}

std::vector<std::pair<std::string, double>> ParticlePolicy::diagnostics() const {
  if (particles_.rows() == 1) return {};
  const double variance = inference::mean_variance(particles_.values(), particles_.layout(), inference::Role::weight);
  std::vector<std::pair<std::string, double>> found{{"variance_to_prior", variance / prior_variance()}};
  if (start_variance_ > 0) found.emplace_back("collapse", variance / start_variance_);
  return found;
}

std::vector<std::vector<double>> ParticlePolicy::posterior_rewards(const envs::Context& context) {
  const MatrixView<const float> outputs = predict(context, 0, options_.particles);
  const float scale = reward_scale();
  std::vector<std::vector<double>> rewards;
  for (std::int64_t i = 0; i < options_.particles; ++i) {
    std::vector<double>& row = rewards.emplace_back();
    for (const float output : outputs.row(i)) row.push_back(scaled_reward(output) / scale);
  }
  return rewards;
}

void ParticlePolicy::save(Snapshot& snapshot) const {
  snapshot.put_saved("particles", particles_);
  snapshot.put_saved("sampler", sampler_);
  snapshot.put_saved("target", *posterior_);
  snapshot.put("updates", updates_);
  unit_.save(snapshot);
}

void ParticlePolicy::restore(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  sampler_.restore(snapshot.part("sampler"));
  posterior_->restore(snapshot.part("target"));
  updates_ = snapshot.get_scalar<std::int64_t>("updates");
  std::ranges::fill(current_, 0);
  unit_.restore(snapshot);
}

}  // namespace stein::policies
