#include <stein/core/rng.h>
#include <stein/inference/parameterizations/saved_weights.h>
#include <stein/policies/best_arm.h>
#include <stein/policies/neural_policy.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace stein::policies {
namespace {

/// Of the tens of thousands of updates that a bandit takes, on rewards that nobody has seen: a chain on shuttle needed
/// more than three.
constexpr std::int64_t rollbacks = 10;

using inference::MatrixView;

inference::MlpSpec network_of(const NeuralPolicy::Options& options, const RewardInputs& inputs) {
  return {.inputs = inputs.columns(),
          .hidden = options.hidden,
          .outputs = inputs.outputs(),
          .activation = options.activation,
          .likelihood = options.likelihood,
          .noise_precision = options.noise_per_arm ? 1 : options.noise_precision,
          .learn_noise_precision = options.learn_noise_precision,
          .active_inputs = inputs.ones()};
}

void check_likelihood(const NeuralPolicy::Options& options, const envs::BanditSpec& spec) {
  STEIN_CHECK(options.likelihood != inference::Likelihood::categorical,
              "a bandit's rewards need a gaussian or bernoulli likelihood");
  const bool bernoulli = options.likelihood == inference::Likelihood::bernoulli;
  STEIN_CHECK(!bernoulli || (spec.reward_low >= 0 && spec.reward_high <= 1),
              "option 'likelihood': bernoulli needs rewards in [0, 1], those of {} average from {} to {}", spec.name,
              spec.reward_low, spec.reward_high);
  STEIN_CHECK(
      !options.noise_per_arm || !options.learn_noise_precision,
      "options 'noise_per_arm' and 'learn_noise_precision': the noise is learned from residuals or sampled with "
      "the weights, expected one of them");
}

}  // namespace

NeuralPolicy::NeuralPolicy(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed, std::int64_t rows,
                           std::int64_t networks, inference::Device device)
    : options_(options),
      spec_(spec),
      seed_(seed),
      inputs_(options.network, spec),
      unit_(spec),
      network_(network_of(options, inputs_)),
      prior_(inference::gaussian_prior_of(options.posterior, network_)),
      posterior_(inference::make_network_posterior(options.posterior, network_, device)),
      particles_(start(rows)),
      sampler_(options.sampler.make(particles_.ensemble(seed, options.posterior.arithmetic)), {.rollbacks = rollbacks}),
      current_(static_cast<std::size_t>(networks)) {
  check_likelihood(options, spec);
  if (options.noise_per_arm && options.likelihood == inference::Likelihood::gaussian)
    arm_noise_.emplace(options.arm_noise, spec.arms, options.noise_precision);
  if (options.average_steps > 0)
    averaged_ = inference::Matrix<float>(networks, posterior_->weight_layout().size(), device);
}

inference::Particles<float> NeuralPolicy::start(std::int64_t rows) {
  inference::Particles<float> particles(posterior_->layout(), rows);
  posterior_->initialise(particles, seed_, options_.initial_spread);
  if (options_.posterior.prior_scale == inference::PriorScale::functions)
    inference::draw_from_prior(prior_, particles, {.seed = seed_, .stream = Stream::initial_values});
  return particles.to(posterior_->model().device());
}

bool NeuralPolicy::rows_are_networks() const {
  return device() != inference::Device{} && posterior_->parameterization().passes_through() && !has_other_networks();
}

MatrixView<const float> NeuralPolicy::networks(std::int64_t first, std::int64_t count) {
  if (!averaged_.empty() && updates_ > 0) return averaged_.view().block(first, count);
  return networks_now(first, count);
}

MatrixView<const float> NeuralPolicy::networks_now(std::int64_t first, std::int64_t count) {
  if (rows_are_networks()) return posterior_->weights_of(particles_.coordinates().block(first, count), {}, weights_);
  refresh_stale(first, count);
  return one_row_each(weights_.view()).block(first, count);
}

MatrixView<const float> NeuralPolicy::network_weights() {
  return networks_now(0, std::ssize(current_));
}

MatrixView<const float> NeuralPolicy::one_row_each(MatrixView<const float> weights) const {
  weights.rows = std::ssize(current_), weights.stride *= posterior_->weight_samples();  // the first draw of each
  return weights;
}

void NeuralPolicy::refresh_stale(std::int64_t first, std::int64_t count) {
  const auto wanted = std::span(current_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  if (std::ranges::none_of(wanted, std::identity())) return refresh(first, count);
  for (std::int64_t i = first; i < first + count; ++i)
    if (current_[static_cast<std::size_t>(i)] == 0) refresh(i, 1);
}

void NeuralPolicy::refresh(std::int64_t first, std::int64_t count) {
  const std::int64_t samples = posterior_->weight_samples();
  if (weights_.empty())
    weights_ = inference::Matrix<float>(std::ssize(current_) * samples, posterior_->weight_layout().size(), device());
  make_networks(first, count, weights_.view().block(first * samples, count * samples));
  std::ranges::fill(std::span(current_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)), 1);
}

void NeuralPolicy::make_networks(std::int64_t first, std::int64_t count, MatrixView<float> weights) {
  posterior_->effective_weights(particles_.coordinates().block(first, count),
                                {.seed = seed_, .step = static_cast<std::uint64_t>(updates_)}, weights);
}

void NeuralPolicy::average_networks() {
  const auto share = static_cast<float>(1.0 / static_cast<double>(std::min(updates_, options_.average_steps)));
  const inference::ScaledRun<float> fades{0, averaged_.columns(), share}, comes{0, averaged_.columns(), -share};
  const auto& driver = inference::driver<float>(particles_.ensemble(seed_, options_.posterior.arithmetic));
  driver.subtract_runs(averaged_.view(), {&fades, 1}, averaged_.view());
  driver.subtract_runs(network_weights(), {&comes, 1}, averaged_.view());
}

MatrixView<const float> NeuralPolicy::predict(const envs::Context& context, std::int64_t first, std::int64_t count) {
  // Weights may grow past what the network can multiply before a gradient says so.
  for (std::string wrong; !(wrong = find_predictions(context, first, count)).empty();) {
    if (!averaged_.empty()) fail(ErrorKind::numeric, "{}", wrong);
    sampler_.take_back(particles_, *posterior_, wrong);
    networks_moved();
  }
  return {predictions_.data(), count, context.choices(spec_)};
}

void NeuralPolicy::foresee(const envs::Context& context) {
  if (foresees()) foreseen_.add(inputs_.of_context(context));
}

void NeuralPolicy::ask(std::int64_t first, std::int64_t count, const inference::Inputs<float>& inputs,
                       MatrixView<float> outputs) {
  posterior_->model().predict({networks(first, count), 0}, inputs, outputs);
  add_to_predictions(first, count, inputs, outputs);
}

MatrixView<const float> NeuralPolicy::answers(std::int64_t first, std::int64_t count,
                                              const inference::Inputs<float>& inputs) {
  const std::int64_t networks = std::ssize(current_);
  foreseen_.answer(networks, inputs_.outputs(), [&](const inference::Inputs<float>& all, MatrixView<float> outputs) {
    ask(0, networks, all, outputs);
  });
  if (const auto foreseen = foreseen_.find(inputs, first, count)) return *foreseen;
  const std::int64_t rows = count * inputs.rows(), columns = inputs_.outputs();
  outputs_.resize(static_cast<std::size_t>(rows * columns));
  ask(first, count, inputs, {outputs_.data(), rows, columns});
  return {outputs_.data(), count, inputs.rows() * columns};
}

std::string NeuralPolicy::find_predictions(const envs::Context& context, std::int64_t first, std::int64_t count) {
  const inference::Inputs<float> inputs = inputs_.of_context(context);
  const MatrixView<const float> outputs = answers(first, count, inputs);
  const std::span<const std::int32_t> places = inputs_.places(context);
  const std::int64_t choices = std::ssize(places);
  predictions_.resize(static_cast<std::size_t>(count * choices));
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < choices; ++k) {
      const float output = outputs(i, places[k]);
      if (!std::isfinite(output))
        return fmt::format("the prediction of arm {} by particle {} is {}", context.arm(k), first + i, output);
      predictions_[i * choices + k] = output;
    }
  return {};
}

double NeuralPolicy::scaled_reward(float output) const {
  return options_.likelihood == inference::Likelihood::bernoulli ? 1 / (1 + std::exp(-double{output})) : output;
}

float NeuralPolicy::reward_scale() const {
  if (!options_.scale_rewards || options_.likelihood != inference::Likelihood::gaussian) return 1;
  return static_cast<float>(1 / unit_.value());
}

NeuralPolicy::Choice NeuralPolicy::choose(const envs::Context& context, const DrawOptions& how, Draws& draws,
                                          Propensities wanted) {
  propensities_.assign(wanted == Propensities::exact ? static_cast<std::size_t>(context.choices(spec_)) : 0, 0);
  if (how.draw == Draw::one) return choose_by_one(context, draws);
  if (how.draw == Draw::mean || how.drawn_particles >= std::ssize(current_)) return choose_by_mean(context, draws);
  return choose_by_some(context, how.drawn_particles, draws);
}

Decision NeuralPolicy::decide_by(const DrawOptions& how, const envs::Context& context, std::int64_t step,
                                 Propensities wanted) {
  Draws draws({seed_, static_cast<std::uint64_t>(step), Stream::decision}, 0);
  const auto [place, drawn] = choose(context, how, draws, wanted);
  return {.action = context.arm(place), .propensities = propensities_, .deterministic = !drawn};
}

NeuralPolicy::Choice NeuralPolicy::choose_by_one(const envs::Context& context, Draws& draws) {
  const std::int64_t networks = std::ssize(current_);
  const std::int64_t drawn = draws.integer(static_cast<std::uint32_t>(networks));
  if (propensities_.empty()) return {draw_best<float>(predict(context, drawn, 1).row(0), draws), true};
  const MatrixView<const float> predictions = predict(context, 0, networks);
  for (std::int64_t i = 0; i < networks; ++i) vote<float>(predictions.row(i), propensities_);
  for (double& share : propensities_) share /= static_cast<double>(networks);
  return {draw_best<float>(predictions.row(drawn), draws), true};
}

NeuralPolicy::Choice NeuralPolicy::choose_by_some(const envs::Context& context, std::int64_t count, Draws& draws) {
  const std::int64_t networks = std::ssize(current_), choices = context.choices(spec_);
  const std::int64_t drawn = draws.integer(static_cast<std::uint32_t>(networks)), end = drawn + count;
  mean_.assign(static_cast<std::size_t>(choices), 0);
  if (propensities_.empty()) {  // the row of networks may go on at the first
    add_expectations(context, drawn, std::min(end, networks) - drawn);
    if (end > networks) add_expectations(context, 0, end - networks);
    return {draw_best<double>(mean_, draws), true};
  }
  const MatrixView<const float> predictions = predict(context, 0, networks);
  chosen_mean_.assign(mean_.size(), 0);
  for (std::int64_t first = 0; first < networks; ++first) {
    std::ranges::fill(mean_, 0);
    for (std::int64_t i = first; i < first + count; ++i)
      for (std::int64_t k = 0; k < choices; ++k) mean_[k] += scaled_reward(predictions(i % networks, k));
    vote<double>(mean_, propensities_);
    if (first == drawn) chosen_mean_ = mean_;
  }
  for (double& share : propensities_) share /= static_cast<double>(networks);
  return {draw_best<double>(chosen_mean_, draws), true};
}

void NeuralPolicy::add_expectations(const envs::Context& context, std::int64_t first, std::int64_t count) {
  const MatrixView<const float> predictions = predict(context, first, count);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < predictions.columns; ++k) mean_[k] += scaled_reward(predictions(i, k));
}

NeuralPolicy::Choice NeuralPolicy::choose_by_mean(const envs::Context& context, Draws& draws) {
  mean_.assign(static_cast<std::size_t>(context.choices(spec_)), 0);
  add_expectations(context, 0, std::ssize(current_));
  const auto best = std::ranges::max_element(mean_);
  const bool tied = std::ranges::count(mean_, *best) > 1;
  if (!propensities_.empty()) vote<double>(mean_, propensities_);
  return {tied ? draw_best<double>(mean_, draws) : best - mean_.begin(), tied};
}

double NeuralPolicy::mean_prediction(const envs::Context& context, std::int64_t place) {
  const MatrixView<const float> predictions = predict(context, 0, std::ssize(current_));
  double sum = 0;
  for (std::int64_t i = 0; i < predictions.rows; ++i) sum += scaled_reward(predictions(i, place));
  return sum / static_cast<double>(predictions.rows);
}

void NeuralPolicy::observe(const envs::Context& context, const Outcome& outcome) {
  unit_.observe(outcome.reward);
  if (!arm_noise_) return;
  const double predicted = mean_prediction(context, context.place_of(outcome.action, spec_));
  arm_noise_->observe(outcome.action, reward_scale() * outcome.reward - predicted, outcome.weight);
}

void NeuralPolicy::learn(const InteractionBatch& interactions) {
  const auto n = static_cast<std::size_t>(interactions.rows);
  const float reward_scale = this->reward_scale();
  targets_.resize(n);
  for (std::size_t i = 0; i < n; ++i) targets_[i] = reward_scale * interactions.rewards[i];
  std::span<const float> weights = interactions.weights;
  if (arm_noise_) {
    row_weights_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      row_weights_[i] =
          static_cast<float>(arm_noise_->precision(interactions.actions[i])) * (weights.empty() ? 1.0F : weights[i]);
    weights = row_weights_;
  }
  const std::int64_t most = options_.largest_data_size;
  inference::Batch<float> batch;
  batch.inputs = inputs_.of_batch(interactions);
  batch.outputs = inputs_.outputs_of(interactions);
  batch.targets = {targets_.data(), interactions.rows, 1};
  batch.row_weights = weights;
  batch.rows = interactions.rows;
  batch.data_size = static_cast<double>(most > 0 ? std::min(most, interactions.window) : interactions.window);
  shape(interactions, batch);
  networks_moved();
  ++updates_;
  do sampler_.step(particles_, *posterior_, batch);  // whoever decides next looks at the networks
  while (sampler_.settle(particles_, *posterior_, batch).went_back);
  if (!averaged_.empty()) average_networks();
}

std::vector<std::vector<double>> NeuralPolicy::posterior_rewards(const envs::Context& context) {
  const MatrixView<const float> outputs = predict(context, 0, std::ssize(current_));
  const float scale = reward_scale();
  std::vector<std::vector<double>> rewards;
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    std::vector<double>& row = rewards.emplace_back();
    for (const float output : outputs.row(i)) row.push_back(scaled_reward(output) / scale);
  }
  return rewards;
}

void NeuralPolicy::save(Snapshot& snapshot) const {
  snapshot.put_saved("particles", particles_);
  snapshot.put_saved("sampler", sampler_);
  snapshot.put_saved("target", *posterior_);
  snapshot.put("updates", updates_);
  unit_.save(snapshot);
  if (arm_noise_) snapshot.put_saved("arm_noise", *arm_noise_);
  if (!averaged_.empty()) inference::save_weights(snapshot, "averaged", posterior_->weight_layout(), averaged_);
}

void NeuralPolicy::restore(const Snapshot& snapshot) {
  particles_.restore(snapshot.part("particles"));
  sampler_.restore(snapshot.part("sampler"));
  posterior_->restore(snapshot.part("target"));
  updates_ = snapshot.get_scalar<std::int64_t>("updates");
  networks_moved();
  unit_.restore(snapshot);
  if (arm_noise_) arm_noise_->restore(snapshot.part("arm_noise"));
  if (updates_ > 0 && !averaged_.empty())
    inference::restore_weights(snapshot, "averaged", posterior_->weight_layout(), averaged_);
}

}  // namespace stein::policies
