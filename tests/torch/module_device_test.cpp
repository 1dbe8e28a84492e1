// Modules with running statistics on another device than the host: the fenced device ends whatever reaches around it.
#include <torch/torch.h>

#include <stein/core/rng.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/torch/module_model.h>
#include <stein/torch/tensor_view.h>

#include <catch2/catch.hpp>

#include "inference/fenced_device.h"
#include "inference/gpu.h"

namespace stein::inference {
namespace {

constexpr std::int64_t inputs = 4, outputs = 2, rows = 5, particles_count = 2;

/// y ~ N(f(x), 1), with batch normalisation between two layers.
std::unique_ptr<ModuleModel> normalised_model(torch::nn::Sequential network, Device device) {
  const auto on_device = [device](MatrixView<const float> numbers) {
    return tensor_view(numbers).to(tensor_device(device));
  };
  ModuleFunctions functions{
      .log_likelihood =
          [=](const Batch<float>& batch) mutable {
            const at::Tensor found = network->forward(on_device(batch.inputs.dense));
            return (-0.5 * (on_device(batch.targets) - found).square()).sum();
          },
      .outputs = [=](const Inputs<float>& given) mutable { return network->forward(on_device(given.dense)); },
      .output_count = outputs};
  return std::make_unique<ModuleModel>(network.ptr(), std::move(functions), device);
}

struct Moved {
  std::vector<float> weights, statistics, predictions;
};

std::vector<float> numbers_of(const Matrix<float>& matrix) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    numbers.insert(numbers.end(), matrix.view().row(i).begin(), matrix.view().row(i).end());
  return numbers;
}

/// Where five steps of a sampler lead, and what is predicted there.
Moved moved_on(const std::string& name, Device device) {
  // Without the first bias, whose gradient the normalisation makes rounding: Adam would take steps of full length by
  // it.
  torch::nn::Sequential network(torch::nn::Linear(torch::nn::LinearOptions(inputs, 3).bias(false)),
                                torch::nn::BatchNorm1d(3), torch::nn::Linear(3, outputs));
  auto model = normalised_model(network, device);
  auto direct = std::make_unique<Direct<float>>(model->layout());
  std::vector<std::unique_ptr<Prior<float>>> priors;
  priors.push_back(std::make_unique<GaussianPrior<float>>(GaussianPriorOptions{.weight_precision = 3},
                                                          direct->coordinates(), std::vector<std::string>{},
                                                          PriorSpace::coordinates, device));
  Posterior<float> posterior(std::move(model), std::move(direct), std::move(priors));
  Particles<float> particles = posterior.initial_particles(particles_count, 6, 1.0);
  REQUIRE(particles.device() == device);

  std::vector<float> x(rows * inputs), y(rows * outputs), found(particles_count * rows * outputs);
  fill_normal(std::span<float>(x), {.seed = 1}, 0);
  fill_normal(std::span<float>(y), {.seed = 1}, 1);
  Batch<float> batch;
  batch.inputs.dense = {x.data(), rows, inputs};
  batch.targets = {y.data(), rows, outputs};
  batch.rows = rows;
  batch.data_size = 40;
  const auto sampler = samplers().at(name).defaults.make(particles.ensemble(0, Arithmetic::reference));
  for (int t = 0; t < 5; ++t) sampler->step(particles, posterior, batch);
  posterior.model().predict(particles.coordinates(), batch.inputs, {found.data(), particles_count * rows, outputs});
  std::vector<float> second(rows * outputs);  // alone, by its own statistics
  posterior.model().predict(particles.coordinates().block(1, 1), batch.inputs, {second.data(), rows, outputs});
  CHECK(std::equal(second.begin(), second.end(), found.begin() + rows * outputs));

  for (const auto& buffer : network->buffers()) CHECK(buffer.is_cpu());
  CHECK(network->named_buffers()["1.running_mean"].equal(at::zeros({3})));
  CHECK(network->named_buffers()["1.running_var"].equal(at::ones({3})));
  CHECK(network->named_buffers()["1.num_batches_tracked"].item<std::int64_t>() == 0);
  return {.weights = numbers_of(host_copy<float>(particles.values(), device)),
          .statistics = numbers_of(host_copy<float>(particles.buffers(), device)),
          .predictions = found};
}

TEST_CASE("running statistics lie with the weights on a device, and move as on the host, under a prior of gains too",
          "[inference][module][device]") {
  const std::string sampler = GENERATE("sgld", "svgd");
  const Moved host = moved_on(sampler, {}), device = moved_on(sampler, test::fenced_device());
  CHECK(device.weights == host.weights);
  CHECK(device.statistics == host.statistics);
  CHECK(device.predictions == host.predictions);
  CHECK(host.statistics[0] != host.statistics[6]);  // of the second particle
  CHECK(host.statistics[0] != 0);
}

TEST_CASE("running statistics move on a GPU as on the host", "[inference][module][gpu]") {
  const Device gpu = test::gpu();
  const std::string sampler = GENERATE("sgld", "svgd");
  const Moved host = moved_on(sampler, {}), device = moved_on(sampler, gpu);
  const auto close = [](const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-5));
  };
  close(device.weights, host.weights);
  close(device.statistics, host.statistics);
  close(device.predictions, host.predictions);
}

}  // namespace
}  // namespace stein::inference
