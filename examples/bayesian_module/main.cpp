// Makes a classifier written with LibTorch Bayesian. What is between the two marks below is all that this takes; the
// rest is the network, the data and the printing. It ends with 1 if the posterior classifies badly, or is not less sure
// far from its data than among them.
#include <stein/inference/prediction/collector.h>
#include <stein/inference/prediction/predictive.h>
#include <stein/inference/samplers/sghmc.h>
#include <stein/torch/module_posterior.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

#include <cmath>
#include <cstdio>
#include <numbers>

using namespace stein::inference;

namespace {

/// Two moons: half circles of radius 1 that reach into one another, with noise of sd 0.15. Class c sits at (x, y).
struct Moons {
  std::vector<float> points, classes;
  explicit Moons(std::int64_t count, std::uint64_t seed) {
    stein::Draws draws({.seed = seed, .stream = stein::Stream::data}, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      const double side = i % 2 == 0 ? 1 : -1, angle = draws.uniform(0, std::numbers::pi);
      points.push_back(static_cast<float>(side * (std::cos(angle) - 0.5) + 0.15 * draws.normal()));
      points.push_back(static_cast<float>(side * (std::sin(angle) - 0.25) + 0.15 * draws.normal()));
      classes.push_back(i % 2 == 0 ? 0.0F : 1.0F);
    }
  }
  Inputs<float> inputs() const { return {.dense = {points.data(), std::ssize(classes), 2}}; }
};

double average(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

}  // namespace

int main() {
  const Moons training(200, 1), test(400, 2);
  Moons far = test;
  for (float& x : far.points) x *= 5;
  torch::nn::Sequential network(torch::nn::Linear(2, 16), torch::nn::Tanh(), torch::nn::Linear(16, 2));

  // begin
  const auto logits = [&](const Inputs<float>& inputs) { return network->forward(tensor_view(inputs.dense)); };
  const auto log_likelihood = [&](const Batch<float>& batch) {
    const at::Tensor classes = tensor_view(batch.targets).flatten().to(at::kLong);
    return -torch::nn::functional::cross_entropy(
        logits(batch.inputs), classes, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
  };
  const auto posterior =
      make_module_posterior(network.ptr(), {.log_likelihood = log_likelihood, .outputs = logits, .output_count = 2});

  Batch<float> batch{.inputs = training.inputs(), .targets = {training.classes.data(), 200, 1}, .rows = 200};
  batch.data_size = 200;
  Particles<float> chains = posterior->initial_particles(2, 1, 1.0);
  Sghmc<float> sampler({.step = {.step_size = 1e-3}}, chains.ensemble(1));
  Collector collector({.burn_in = 1000, .thinning = 50, .samples = 40}, 3000);
  Predictive among(Likelihood::categorical, 400, 2), elsewhere(Likelihood::categorical, 400, 2);
  while (collector.steps() < 3000) {
    if (!collector.take(sampler.step(chains, *posterior, batch)).keep) continue;
    add_predictions(among, *posterior, chains.coordinates(), test.inputs(), {});
    add_predictions(elsewhere, *posterior, chains.coordinates(), far.inputs(), {});
  }
  // end

  int right = 0;
  for (std::int64_t i = 0; i < 400; ++i) right += (among.mean()(i, 1) > 0.5) == (i % 2 == 1) ? 1 : 0;
  const double information = average(among.mutual_information()),
               far_information = average(elsewhere.mutual_information());
  std::printf("%lld weights, %lld draws of them\n", static_cast<long long>(chains.size()),
              static_cast<long long>(among.draws()));
  std::printf("accuracy %.3f\n", right / 400.0);
  std::printf("entropy %.3f among the data\n", average(among.entropy()));
  std::printf("mutual information %.4f among the data, %.4f far from them\n", information, far_information);
  return right > 380 && far_information > information ? 0 : 1;
}
