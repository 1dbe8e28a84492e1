// Large p, small n: the simulations of Deng, Zhang, Liang & Lin 2019 (§5.1 and appendix C), one cell of their tables 1
// and 4 at a time. Three of a thousand weights are not zero; a linear or logistic regression has to find them.
#pragma once

#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/priors/spike_and_slab_prior.h>
#include <stein/inference/samplers/sgld.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace sparse_regression {

enum class Task { linear, logistic };

/// One cell: what is learned, by which method, from where, and for how long.
struct Cell {
  Task task = Task::linear;
  stein::inference::SlabAdaptation method = stein::inference::SlabAdaptation::stochastic_approximation;
  double laplace_scale = 0.1;  ///< v₀
  double sigma = 1;            ///< σ, where it starts
  std::uint64_t seed = 0;      ///< of the data and the chain; the same data for every method
  std::int64_t steps = 20'000;
  std::int64_t burn_in = 10'000;
  std::int64_t thinning = 10;
};

/// Errors on 50 new rows. The responses are drawn as those of the training set are: a linear one has noise of variance
/// 3, a logistic one is 0 or 1. So a perfect prediction has an error as well: √(6/π) = 1.38 and 3 for the linear task.
struct Outcome {
  double mean_absolute = 0, mean_square = 0;      ///< of the prediction averaged over the samples
  double sample_absolute = 0, sample_square = 0;  ///< of the prediction of one sample, averaged over the samples
  double ideal_absolute = 0, ideal_square = 0;    ///< of the true means
  std::vector<double> first_weights;              ///< posterior means of β₁ to β₅
  std::vector<double> truth;                      ///< β₁ to β₃
  std::vector<std::vector<double>> quantiles;     ///< of β₁ to β₃ over the samples: .05, .25, .5, .75 and .95
  std::vector<double> predicted, responses;       ///< averaged predictions of the new rows, and what these answered
  std::vector<double> fitted, learned;            ///< the same of the first 50 rows of the training set
  double sigma = 0, slab_share = 0;               ///< where they ended
};

inline constexpr std::int64_t predictors = 1000, test_rows = 50, batch_rows = 50;

/// Rows of predictors with correlations r^|i−j|, and what they answer.
struct Rows {
  std::vector<float> x, y;
  std::vector<double> mean;  ///< E[y | x]; of a logistic response without its own noise η

  std::int64_t count() const { return static_cast<std::int64_t>(y.size()); }
  stein::inference::Inputs<float> inputs() const { return {.dense = {x.data(), count(), predictors}}; }
};

inline Rows draw_rows(Task task, std::int64_t count, const std::vector<double>& beta, stein::NoiseKey key) {
  const double correlation = task == Task::linear ? 0.6 : 0.3;
  const double fresh = std::sqrt(1 - correlation * correlation);
  Rows rows;
  for (std::int64_t i = 0; i < count; ++i) {
    stein::Draws draws(key, static_cast<std::uint32_t>(i));
    double x = 0, sum = 0;
    for (std::int64_t j = 0; j < predictors; ++j) {
      x = j == 0 ? draws.normal() : correlation * x + fresh * draws.normal();
      rows.x.push_back(static_cast<float>(x));
      sum += beta[static_cast<std::size_t>(j)] * x;
    }
    if (task == Task::linear) {
      rows.mean.push_back(sum);
      rows.y.push_back(static_cast<float>(sum + std::sqrt(3.0) * draws.normal()));
    } else {
      rows.mean.push_back(1 / (1 + std::exp(-sum)));
      const double noisy = sum + std::sqrt(0.5) * draws.normal();
      rows.y.push_back(draws.uniform() < 1 / (1 + std::exp(-noisy)) ? 1.0F : 0.0F);
    }
  }
  return rows;
}

/// β₁ ~ N(3, 0.2²), β₂ ~ N(2, 0.2²), β₃ ~ N(1, 0.2²), the others 0.
inline std::vector<double> draw_weights(std::uint64_t seed) {
  std::vector<double> beta(predictors);
  stein::Draws draws({.seed = seed, .step = 0, .stream = stein::Stream::data}, 0);
  for (std::size_t j = 0; j < 3; ++j) beta[j] = static_cast<double>(3 - j) + 0.2 * draws.normal();
  return beta;
}

/// 50 different rows of a training set, drawn anew for every step.
class Minibatch {
 public:
  Minibatch(const Rows& rows, std::uint64_t seed) : rows_(rows), seed_(seed), order_(rows.y.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  }
  stein::inference::Batch<float> draw(std::int64_t t) {
    stein::Draws draws({.seed = seed_, .step = static_cast<std::uint64_t>(t), .stream = stein::Stream::minibatch}, 0);
    for (std::size_t i = 0; i < batch_rows; ++i) {
      std::swap(order_[i], order_[i + draws.integer(static_cast<std::uint32_t>(order_.size() - i))]);
      const auto from = rows_.x.begin() + static_cast<std::ptrdiff_t>(order_[i]) * predictors;
      std::copy_n(from, predictors, x_.begin() + static_cast<std::ptrdiff_t>(i) * predictors);
      y_[i] = rows_.y[order_[i]];
    }
    return {.inputs = {.dense = {x_.data(), batch_rows, predictors}},
            .targets = {y_.data(), batch_rows, 1},
            .rows = batch_rows,
            .data_size = static_cast<double>(rows_.y.size())};
  }

 private:
  const Rows& rows_;
  std::uint64_t seed_;
  std::vector<std::size_t> order_;
  std::vector<float> x_ = std::vector<float>(batch_rows * predictors), y_ = std::vector<float>(batch_rows);
};

/// Sums of the absolute and squared differences of what was predicted from the responses, a row.
inline std::pair<double, double> errors(const std::vector<double>& predicted, const Rows& rows) {
  double absolute = 0, square = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const double difference = predicted[i] - static_cast<double>(rows.y[i]);
    absolute += std::abs(difference), square += difference * difference;
  }
  const auto count = static_cast<double>(predicted.size());
  return {absolute / count, square / count};
}

/// The values below which the given shares of some numbers lie.
inline std::vector<double> quantiles(std::vector<double> numbers, const std::vector<double>& shares) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<double> found;
  for (const double share : shares)
    found.push_back(numbers[static_cast<std::size_t>(share * static_cast<double>(numbers.size() - 1))]);
  return found;
}

/// Samples the posterior of one cell and predicts. Settings as published: ε_k = 0.001 k^(−1/3),
/// ω_k = 10 (k + 1000)^−0.7, τ = λ = ν = 1, v₁ = 10, δ = 0.5 at the start, a = 1, b = p. The regression here has an
/// intercept besides, under N(0, 1), and the weights start at N(0, 1/p).
/// @throws stein::Error(numeric) if the chain leaves the finite numbers
inline Outcome run(const Cell& cell) {
  using namespace stein::inference;
  const bool linear = cell.task == Task::linear;
  const std::vector<double> beta = draw_weights(cell.seed);
  const auto key = [&](std::uint64_t step) {
    return stein::NoiseKey{.seed = cell.seed, .step = step, .stream = stein::Stream::data};
  };
  const Rows train = draw_rows(cell.task, linear ? 100 : 500, beta, key(1));
  const Rows test = draw_rows(cell.task, test_rows, beta, key(2));

  const SpikeAndSlabOptions prior{.likelihood = linear ? SlabLikelihood::regression : SlabLikelihood::classification,
                                  .laplace_scale = cell.laplace_scale,
                                  .gaussian_scale = 10,
                                  .sigma = cell.sigma,
                                  .slab_share = 0.5,
                                  .slab_share_a = 1,
                                  .slab_share_b = predictors,
                                  .adaptation = cell.method};
  const MlpSpec network{.inputs = predictors,
                        .likelihood = linear ? Likelihood::gaussian : Likelihood::bernoulli,
                        .learn_noise_precision = linear};
  const auto [posterior, latents] = make_spike_and_slab_posterior<float>(
      {.sparse = prior}, std::make_unique<ParticleMlp>(network), {"layer0.weight"});
  Particles<float> particles = posterior->initial_particles(1, cell.seed, 1);
  Sgld<float> sampler({.step = {.step_size = 1e-3, .step_decay_steps = 1, .step_decay_exponent = 1.0 / 3}},
                      particles.ensemble(cell.seed));
  Minibatch minibatch(train, cell.seed);

  Outcome outcome;
  outcome.first_weights.resize(5);
  outcome.truth.assign(beta.begin(), beta.begin() + 3);
  std::vector<std::vector<double>> sampled(3);
  std::vector<double> average(test_rows), fitted(test_rows), predicted(test_rows);
  const auto expected = [&](float output) { return linear ? double{output} : 1 / (1 + std::exp(-double{output})); };
  std::vector<float> outputs(test_rows), weights(static_cast<std::size_t>(posterior->weight_layout().size()));
  double samples = 0;
  for (std::int64_t t = 0; t < cell.steps; ++t) {
    sampler.step(particles, *posterior, minibatch.draw(t));
    if (t < cell.burn_in || (t - cell.burn_in) % cell.thinning != 0) continue;
    const MatrixView<float> row{weights.data(), 1, posterior->weight_layout().size()};
    posterior->effective_weights(particles.coordinates(), {}, row);
    posterior->model().predict({row}, test.inputs(), {outputs.data(), test_rows, 1});
    for (std::size_t i = 0; i < predicted.size(); ++i) average[i] += predicted[i] = expected(outputs[i]);
    posterior->model().predict({row}, {.dense = {train.x.data(), test_rows, predictors}},
                               {outputs.data(), test_rows, 1});
    for (std::size_t i = 0; i < fitted.size(); ++i) fitted[i] += expected(outputs[i]);
    const auto [absolute, square] = errors(predicted, test);
    outcome.sample_absolute += absolute, outcome.sample_square += square;
    for (std::size_t j = 0; j < 5; ++j)
      outcome.first_weights[j] += static_cast<double>(particles.values()(0, static_cast<std::int64_t>(j)));
    for (std::size_t j = 0; j < sampled.size(); ++j)
      sampled[j].push_back(static_cast<double>(particles.values()(0, static_cast<std::int64_t>(j))));
    ++samples;
  }
  for (std::vector<double>* sum : {&average, &fitted})
    for (double& value : *sum) value /= samples;
  for (double& value : outcome.first_weights) value /= samples;
  outcome.sample_absolute /= samples, outcome.sample_square /= samples;
  std::tie(outcome.mean_absolute, outcome.mean_square) = errors(average, test);
  std::tie(outcome.ideal_absolute, outcome.ideal_square) = errors(test.mean, test);
  for (const std::vector<double>& weight : sampled)
    outcome.quantiles.push_back(quantiles(weight, {0.05, 0.25, 0.5, 0.75, 0.95}));
  outcome.predicted = average, outcome.responses.assign(test.y.begin(), test.y.end());
  outcome.fitted = fitted, outcome.learned.assign(train.y.begin(), train.y.begin() + test_rows);
  outcome.sigma = latents->sigma(0), outcome.slab_share = latents->slab_share(0, 0);
  return outcome;
}

}  // namespace sparse_regression
