// Makes an LSTM of LibTorch Bayesian: the posterior of its weights on noisy sine waves by Stein variational gradient
// descent, and what averaging over it predicts. It ends with 1 if the predictions are no better than repeating the last
// value seen.
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/samplers/svgd.h>
#include <stein/torch/module_model.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/rnn.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <vector>

using namespace stein::inference;

namespace {

constexpr std::int64_t length = 12;  // numbers of a wave that the network sees; it predicts the next one
constexpr float noise = 0.1F;        // sd of every number

/// Reads a wave and predicts its next value.
struct WaveNetwork : torch::nn::Module {
  torch::nn::LSTM lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(1, 8).batch_first(true)));
  torch::nn::Linear head = register_module("head", torch::nn::Linear(8, 1));

  /// [n, length] to [n, 1].
  at::Tensor forward(const at::Tensor& waves) {
    const at::Tensor states = std::get<0>(lstm->forward(waves.unsqueeze(-1)));
    return head->forward(states.select(1, length - 1));
  }
};

struct Waves {
  std::vector<float> seen, next;
  Inputs<float> inputs() const { return {.dense = {seen.data(), static_cast<std::int64_t>(next.size()), length}}; }
};

Waves draw_waves(std::int64_t count, std::uint64_t seed) {
  Waves waves;
  for (std::int64_t i = 0; i < count; ++i) {
    stein::Draws draws({.seed = seed, .stream = stein::Stream::data}, static_cast<std::uint32_t>(i));
    const double phase = draws.uniform(0, 2 * std::numbers::pi);
    const auto value = [&](std::int64_t t) {
      return static_cast<float>(std::sin(phase + 0.6 * static_cast<double>(t)) + noise * draws.normal());
    };
    for (std::int64_t t = 0; t < length; ++t) waves.seen.push_back(value(t));
    waves.next.push_back(value(length));
  }
  return waves;
}

/// Σ_i log N(y_i | f(x_i), noise²), up to its constant.
at::Tensor log_likelihood(WaveNetwork& network, const Batch<float>& batch) {
  const at::Tensor errors = tensor_view(batch.targets) - network.forward(tensor_view(batch.inputs.dense));
  return -0.5 / (noise * noise) * errors.square().sum();
}

}  // namespace

int main() {
  constexpr std::int64_t particle_count = 8;
  const auto network = std::make_shared<WaveNetwork>();
  auto model = std::make_unique<ModuleModel>(
      network,
      ModuleFunctions{
          .log_likelihood = [network](const Batch<float>& batch) { return log_likelihood(*network, batch); },
          .outputs = [network](const Inputs<float>& inputs) { return network->forward(tensor_view(inputs.dense)); },
      });
  auto direct = std::make_unique<Direct<float>>(model->layout());
  std::vector<std::unique_ptr<Prior<float>>> priors;
  priors.push_back(std::make_unique<GaussianPrior<float>>(GaussianPriorOptions{}, direct->coordinates()));
  Posterior<float> posterior(std::move(model), std::move(direct), std::move(priors));

  Particles<float> particles = posterior.initial_particles(particle_count, 1, 1.0);
  Svgd<float> sampler({.optimizer = {.step = {.step_size = 0.02}}}, particles.ensemble(1));
  const Waves training = draw_waves(64, 1);
  Batch<float> batch;
  batch.inputs = training.inputs();
  batch.targets = {training.next.data(), batch.inputs.rows(), 1};
  batch.rows = batch.inputs.rows();
  batch.data_size = static_cast<double>(batch.rows);
  for (int step = 0; step < 300; ++step) sampler.step(particles, posterior, batch);

  const Waves held_out = draw_waves(200, 2);
  const std::int64_t rows = held_out.inputs().rows();
  std::vector<float> outputs(static_cast<std::size_t>(particle_count * rows));
  posterior.model().predict(particles.coordinates(), held_out.inputs(), {outputs.data(), particle_count * rows, 1});
  double squared_error = 0, squared_error_last = 0, squared_spread = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    double mean = 0, mean_of_squares = 0;
    for (std::int64_t m = 0; m < particle_count; ++m) {
      const double output = outputs[static_cast<std::size_t>(m * rows + i)];
      mean += output / particle_count;
      mean_of_squares += output * output / particle_count;
    }
    const double next = held_out.next[static_cast<std::size_t>(i)];
    squared_error += std::pow(next - mean, 2);
    squared_error_last += std::pow(next - held_out.seen[static_cast<std::size_t>(i * length + length - 1)], 2);
    squared_spread += mean_of_squares - mean * mean;
  }
  const auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(rows)); };
  std::printf("%lld weights, %lld particles\n", static_cast<long long>(particles.size()),
              static_cast<long long>(particle_count));
  std::printf("root mean square error: %.3f by the posterior mean, %.3f by the last value; noise %.1f\n",
              root(squared_error), root(squared_error_last), static_cast<double>(noise));
  std::printf("spread of the particles' predictions: %.3f\n", root(squared_spread));
  return squared_error < squared_error_last ? 0 : 1;
}
