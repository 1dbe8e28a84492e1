// Networks that read images: their layers have the published shapes and numbers of weights.
#include <stein/core/rng.h>
#include <stein/inference/input_gradient.h>
#include <stein/torch/image_network.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "core/error_matcher.h"

namespace stein::inference {
namespace {

/// Multiplications for one image.
std::int64_t operations(const Model<float>& model) {
  std::int64_t sum = 0;
  for (const LayoutEntry& entry : model.layout().entries())
    if (entry.role == Role::weight) sum += entry.size() * entry.uses;
  return sum;
}

std::vector<std::int64_t> shape_of(const Model<float>& model, const char* name) {
  return model.layout().at(name).shape;
}

TEST_CASE("a residual network of 20 layers has the published shapes and 0.27 M weights", "[torch][image-network]") {
  const auto model =
      make_image_network({.network = ImageNetwork::resnet20, .channels = 3, .height = 32, .width = 32}, {});
  const Layout& layout = model->layout();
  // Convolutions 432 + 6 · 2,304 + (4,608 + 5 · 9,216) + (18,432 + 5 · 36,864), normalisations 2 · (7 · 16 + 6 · 32 + 6
  // · 64), output 650.
  CHECK(layout.size() == 269'722);
  CHECK(layout.buffer_size() == 2 * (7 * 16 + 6 * 32 + 6 * 64));  // running means and variances
  CHECK(shape_of(*model, "convolution.weight") == std::vector<std::int64_t>{16, 3, 3, 3});
  CHECK(shape_of(*model, "block2.convolution1.weight") == std::vector<std::int64_t>{16, 16, 3, 3});
  CHECK(shape_of(*model, "block3.convolution0.weight") == std::vector<std::int64_t>{32, 16, 3, 3});
  CHECK(shape_of(*model, "block8.convolution1.weight") == std::vector<std::int64_t>{64, 64, 3, 3});
  CHECK(shape_of(*model, "output.weight") == std::vector<std::int64_t>{10, 64});
  std::int64_t layers = 0;
  for (const LayoutEntry& entry : layout.entries()) layers += entry.role == Role::weight;
  CHECK(layers == 20);
}

TEST_CASE("the shallow networks have about as many weights as published", "[torch][image-network]") {
  const auto plain = make_image_network({.network = ImageNetwork::conv2_fc2}, {}),
             normalised = make_image_network({.network = ImageNetwork::conv2_bn_fc3}, {});
  CHECK(plain->layout().size() == 832 + 51'264 + 627'400 + 2'010);                      // published: 670,000
  CHECK(normalised->layout().size() == 1'088 + 65'600 + 409'856 + 512 + 16'448 + 650);  // published: 490,000
  CHECK(normalised->layout().buffer_size() == 512);
  CHECK(shape_of(*plain, "hidden0.weight") == std::vector<std::int64_t>{200, 64 * 7 * 7});
  CHECK(shape_of(*normalised, "hidden0.weight") == std::vector<std::int64_t>{256, 64 * 5 * 5});
}

TEST_CASE("kernels are used once for every place of their maps", "[torch][image-network]") {
  const auto residual =
      make_image_network({.network = ImageNetwork::resnet20, .channels = 3, .height = 32, .width = 32}, {});
  // Maps of 32², 16² and 8² places; He et al. 2016 say 41 million.
  CHECK(operations(*residual) ==
        (432 + 6 * 2'304) * 1'024 + (4'608 + 5 * 9'216) * 256 + (18'432 + 5 * 36'864) * 64 + 640);
  const auto plain = make_image_network({.network = ImageNetwork::conv2_fc2}, {}),
             normalised = make_image_network({.network = ImageNetwork::conv2_bn_fc3}, {});
  CHECK(operations(*plain) == 800 * 28 * 28 + 51'200 * 14 * 14 + 627'200 + 2'000);
  CHECK(operations(*normalised) == 1'024 * 27 * 27 + 65'536 * 10 * 10 + 409'600 + 16'384 + 640);
}

TEST_CASE("a perceptron with dropout draws units in training, and none in predictions without a key",
          "[torch][image-network]") {
  const ImageNetworkSpec spec{
      .network = ImageNetwork::perceptron, .height = 2, .width = 2, .classes = 2, .hidden = {50}, .dropout = 0.5};
  const auto model = make_image_network(spec, {});
  CHECK(model->layout().size() == 4 * 50 + 50 + 50 * 2 + 2);
  std::vector<float> weights(static_cast<std::size_t>(model->layout().size()));
  REQUIRE(model->draw_start(weights, 1, 0));
  const std::vector<float> pixels{1, 2, 3, 4};
  const auto logits = [&](std::optional<NoiseKey> key) {
    std::vector<float> outputs(2);
    Inputs<float> inputs{.dense = {pixels.data(), 1, 4}};
    inputs.dropout = key;
    model->predict({{weights.data(), 1, std::ssize(weights)}, 0}, inputs, {outputs.data(), 1, 2});
    return outputs;
  };
  CHECK(logits({}) == logits({}));
  const NoiseKey first{.seed = 1, .step = 1, .stream = Stream::model},
      second{.seed = 1, .step = 2, .stream = Stream::model};
  CHECK(logits(first) == logits(first));
  CHECK(logits(first) != logits(second));
  CHECK(logits(first) != logits({}));
}

TEST_CASE("the shallow convolutional networks have dropout too", "[torch][image-network]") {
  for (const ImageNetwork network : {ImageNetwork::conv2_fc2, ImageNetwork::conv2_bn_fc3}) {
    const auto model =
        make_image_network({.network = network, .height = 12, .width = 12, .classes = 3, .dropout = 0.5}, {});
    std::vector<float> weights(static_cast<std::size_t>(model->layout().size()));
    std::vector<float> buffers(static_cast<std::size_t>(model->layout().buffer_size()));
    REQUIRE(model->draw_start(weights, 1, 0));
    if (!buffers.empty()) model->initialise_buffers(buffers);
    std::vector<float> pixels(144 * 4);
    fill_normal(std::span<float>(pixels), {.seed = 1}, 0);
    const auto logits = [&](std::optional<NoiseKey> key) {
      std::vector<float> outputs(12);
      Inputs<float> inputs{.dense = {pixels.data(), 4, 144}};
      inputs.dropout = key;
      const ParticleRows<const float> row{
          {weights.data(), 1, std::ssize(weights)}, 0, {buffers.data(), buffers.empty() ? 0 : 1, std::ssize(buffers)}};
      model->predict(row, inputs, {outputs.data(), 4, 3});
      return outputs;
    };
    CHECK(logits(NoiseKey{.seed = 1}) == logits(NoiseKey{.seed = 1}));
    CHECK(logits(NoiseKey{.seed = 1}) != logits(NoiseKey{.seed = 2}));
    CHECK(logits(NoiseKey{.seed = 1}) != logits(std::nullopt));
  }
}

TEST_CASE("gradients by the pixels are slopes of the log probability as it predicts, with running statistics",
          "[torch][image-network]") {
  const auto model = make_image_network(
      {.network = ImageNetwork::conv2_bn_fc3, .height = 12, .width = 12, .classes = 3, .dropout = 0.5}, {});
  std::vector<float> weights(static_cast<std::size_t>(model->layout().size())),
      buffers(static_cast<std::size_t>(model->layout().buffer_size()));
  REQUIRE(model->draw_start(weights, 1, 0));
  model->initialise_buffers(buffers);
  std::vector<float> pixels(2 * 144), gradient(2 * 144);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(std::sin(0.7 * static_cast<double>(i)));
  const ParticleRows<const float> row{
      {weights.data(), 1, std::ssize(weights)}, 0, {buffers.data(), 1, std::ssize(buffers)}};
  const std::vector<std::int64_t> classes{2, 0};
  dynamic_cast<InputGradient&>(*model).input_gradient(row, {pixels.data(), 2, 144}, classes, {gradient.data(), 2, 144});
  const auto log_probability = [&](std::size_t image) {
    std::vector<float> logits(6);
    Inputs<float> inputs{.dense = {pixels.data(), 2, 144}};
    model->predict(row, inputs, {logits.data(), 2, 3});
    double sum = 0;
    const double chosen = static_cast<double>(logits[3 * image + static_cast<std::size_t>(classes[image])]);
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(static_cast<double>(logits[3 * image + c]) - chosen);
    return -std::log(sum);
  };
  for (const std::size_t i : {0, 17, 100, 150, 287}) {
    const float step = 1e-2F, at = pixels[i];
    pixels[i] = at + step;
    const double up = log_probability(i / 144);
    pixels[i] = at - step;
    const double down = log_probability(i / 144);
    pixels[i] = at;
    CAPTURE(i);
    CHECK(gradient[i] == Approx((up - down) / (2 * static_cast<double>(step))).margin(3e-4));
  }
}

TEST_CASE("networks that do not fit their images are refused", "[torch][image-network]") {
  CHECK_ERROR(make_image_network({.network = ImageNetwork::conv2_bn_fc3, .height = 5, .width = 28}, {}), usage,
              "5 x 28 are too small for the network conv-2-bn-fc-3");
  CHECK_ERROR(make_image_network({.network = ImageNetwork::resnet20, .dropout = 0.1}, {}), usage, "has no dropout");
  CHECK_ERROR(make_image_network({.classes = 1}, {}), usage, "in 1");
  const auto model = make_image_network({.network = ImageNetwork::conv2_fc2}, {});
  std::vector<float> weights(static_cast<std::size_t>(model->layout().size())), pixels(10), outputs(10);
  const Inputs<float> inputs{.dense = {pixels.data(), 1, 10}};
  CHECK_ERROR(model->predict({{weights.data(), 1, std::ssize(weights)}, 0}, inputs, {outputs.data(), 1, 10}), usage,
              "images of 784 numbers, got 10");
}

}  // namespace
}  // namespace stein::inference
