// Networks that read images: their layers have the published shapes and numbers of weights.
#include <stein/torch/image_network.h>

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error_matcher.h"

namespace stein::inference {
namespace {

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
