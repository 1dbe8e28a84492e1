// Convolutional networks on another device than the host: where a few steps of a sampler lead, and what is predicted
// there. The fenced device ends whatever reaches around it.
#include <stein/core/rng.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/posterior.h>
#include <stein/inference/priors/gaussian_prior.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/torch/image_network.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "inference/fenced_device.h"
#include "inference/gpu.h"

namespace stein::inference {
namespace {

struct MovedNetwork {
  std::vector<float> weights, statistics, predictions;
};

void append(MatrixView<const float> rows, Device device, std::vector<float>& numbers) {
  const Matrix<float> home = host_copy<float>(rows, device);
  for (std::int64_t i = 0; i < home.rows(); ++i) numbers.insert(numbers.end(), home.row(i).begin(), home.row(i).end());
}

MovedNetwork network_moved_on(const ImageNetworkSpec& spec, const std::string& name, Device device) {
  constexpr std::int64_t rows = 4, particles_count = 2;
  auto model = make_image_network(spec, device);
  auto direct = std::make_unique<Direct<float>>(model->layout(), device);
  std::vector<std::unique_ptr<Prior<float>>> priors;
  priors.push_back(std::make_unique<GaussianPrior<float>>(GaussianPriorOptions{.weight_precision = 3},
                                                          direct->coordinates(), std::vector<std::string>{},
                                                          PriorSpace::coordinates, device));
  Posterior<float> posterior(std::move(model), std::move(direct), std::move(priors));
  Particles<float> particles = posterior.initial_particles(particles_count, 6, 1.0);
  REQUIRE(particles.device() == device);

  const std::int64_t pixels = spec.pixels();
  std::vector<float> images(static_cast<std::size_t>(rows * pixels));
  const std::vector<float> classes{0, 2, 1, 2};
  fill_normal(std::span<float>(images), {.seed = 1}, 0);
  Batch<float> batch;
  batch.inputs.dense = {images.data(), rows, pixels};
  batch.targets = {classes.data(), rows, 1};
  batch.rows = rows;
  batch.data_size = 40;
  const auto sampler = samplers().at(name).defaults.make(particles.ensemble(0, Arithmetic::reference));
  for (int t = 0; t < 3; ++t) sampler->step(particles, posterior, batch);
  sampler->settle(particles, posterior, batch);
  MovedNetwork moved;
  moved.predictions.resize(static_cast<std::size_t>(particles_count * rows * spec.classes));
  posterior.model().predict(particles.coordinates(), batch.inputs,
                            {moved.predictions.data(), particles_count * rows, spec.classes});
  append(particles.values(), device, moved.weights);
  append(particles.buffers(), device, moved.statistics);
  return moved;
}

/// Of each convolutional network a small one, with what it has of normalisation and dropout.
const std::vector<ImageNetworkSpec> networks{
    {.network = ImageNetwork::conv2_fc2, .height = 8, .width = 8, .classes = 3, .dropout = 0.3},
    {.network = ImageNetwork::conv2_bn_fc3, .height = 16, .width = 16, .classes = 3},
    {.network = ImageNetwork::resnet20, .channels = 3, .height = 8, .width = 8, .classes = 3}};

}  // namespace

TEST_CASE("convolutional networks on a device move and predict as on the host", "[torch][image-network][device]") {
  const ImageNetworkSpec spec = GENERATE(from_range(networks));
  const std::string sampler = GENERATE("sgld", "svgd");
  CAPTURE(image_network_name(spec.network), sampler);
  const MovedNetwork host = network_moved_on(spec, sampler, {}),
                     device = network_moved_on(spec, sampler, test::fenced_device());
  CHECK((device.weights == host.weights));
  CHECK((device.statistics == host.statistics));
  CHECK(device.predictions == host.predictions);
}

TEST_CASE("convolutional networks on a GPU move and predict as on the host but for rounding",
          "[torch][image-network][gpu]") {
  const Device gpu = test::gpu();
  ImageNetworkSpec spec = GENERATE(from_range(networks));
  spec.dropout = 0;  // which a GPU draws by itself
  CAPTURE(image_network_name(spec.network));
  const MovedNetwork host = network_moved_on(spec, "sgld", {}), device = network_moved_on(spec, "sgld", gpu);
  const auto close = [](const std::vector<float>& found, const std::vector<float>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != Approx(expected[i]).epsilon(1e-3).margin(1e-3)) return false;
    return true;
  };
  CHECK(close(device.weights, host.weights));
  CHECK(close(device.statistics, host.statistics));
  CHECK(close(device.predictions, host.predictions));
}

}  // namespace stein::inference
