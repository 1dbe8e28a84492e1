// How particles of a LibTorch module start: every parameter with a gradient, every particle on its own.
#include <stein/torch/module_posterior.h>
#include <stein/torch/module_start.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// An image a row, 8 × 8, to 3 numbers: convolution (no bias: the normalisation takes it away), batch normalisation,
/// ReLU, twice, and a linear layer.
struct ConvolutionNetwork : torch::nn::Module {
  torch::nn::Conv2d first{nullptr}, second{nullptr};
  torch::nn::BatchNorm2d first_norm{nullptr}, second_norm{nullptr};
  torch::nn::Linear head{nullptr};
  ConvolutionNetwork() {
    first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 16, 3).padding(1).bias(false)));
    first_norm = register_module("first_norm", torch::nn::BatchNorm2d(16));
    second = register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).stride(2).bias(false)));
    second_norm = register_module("second_norm", torch::nn::BatchNorm2d(32));
    head = register_module("head", torch::nn::Linear(32, 3));
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor seen = first_norm->forward(first->forward(x.view({-1, 1, 8, 8}))).relu();
    return head->forward(second_norm->forward(second->forward(seen)).relu().mean({2, 3}));
  }
};

/// Tokens to 3 numbers: embedding, LSTM, layer normalisation, and a linear layer.
struct SequenceNetwork : torch::nn::Module {
  torch::nn::Embedding embedding{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::LayerNorm norm{nullptr};
  torch::nn::Linear head{nullptr};
  SequenceNetwork() {
    embedding = register_module("embedding", torch::nn::Embedding(64, 12));
    lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(12, 16).batch_first(true)));
    norm = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({16})));
    head = register_module("head", torch::nn::Linear(16, 3));
  }
  at::Tensor forward(const at::Tensor& tokens) {
    const at::Tensor states = std::get<0>(lstm->forward(embedding->forward(tokens)));
    return head->forward(norm->forward(states).select(1, -1));
  }
};

at::Tensor squares(const at::Tensor& outputs, const Batch<float>& batch) {
  return -0.5 * (outputs - tensor_view(batch.targets)).square().sum();
}

/// What the tests below ask of both networks.
struct Start {
  std::unique_ptr<Posterior<float>> posterior;
  Particles<float> particles;

  Start(std::shared_ptr<torch::nn::Module> module, ModuleFunctions functions)
      : posterior(make_module_posterior(std::move(module), std::move(functions))),
        particles(posterior->initial_particles(3, 11, std::sqrt(2))) {}

  const Layout& layout() const { return particles.layout(); }
  std::span<float> values(const LayoutEntry& entry, std::int64_t i) {
    return particles.values().row(i).subspan(static_cast<std::size_t>(entry.offset),
                                             static_cast<std::size_t>(entry.size()));
  }
  double square(const LayoutEntry& entry, std::int64_t i) {
    double sum = 0;
    for (const float x : values(entry, i)) sum += double{x} * double{x};
    return sum / static_cast<double>(entry.size());
  }
  /// Every parameter of every particle has a gradient, from the likelihood alone.
  void check_gradients(const Batch<float>& batch) {
    posterior->model().log_likelihood(particles.coordinates(), batch, {}, {.gradient = particles.gradients()});
    for (const LayoutEntry& entry : layout().entries())
      for (std::int64_t i = 0; i < 3; ++i) {
        CAPTURE(entry.name, i);
        const auto slopes = particles.gradients().row(i).subspan(static_cast<std::size_t>(entry.offset),
                                                                 static_cast<std::size_t>(entry.size()));
        CHECK(std::ranges::any_of(slopes, [](float g) { return std::abs(g) > 1e-6F; }));
      }
  }
};

struct Images {
  std::vector<float> x = std::vector<float>(10 * 64), y = std::vector<float>(30);
  Batch<float> batch{};
  Images() {
    fill_normal(std::span<float>(x), {.seed = 1}, 0);
    fill_normal(std::span<float>(y), {.seed = 1}, 1);
    batch = {.inputs = {.dense = {x.data(), 10, 64}}, .targets = {y.data(), 10, 3}, .rows = 10, .data_size = 10};
  }
};

struct Texts {
  std::vector<std::int32_t> tokens = std::vector<std::int32_t>(6 * 9);
  std::vector<float> y = std::vector<float>(18);
  Batch<float> batch{};
  Texts() {
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7 % 64);
    fill_normal(std::span<float>(y), {.seed = 1}, 1);
    batch = {.inputs = {.tokens = {tokens.data(), 6, 9}}, .targets = {y.data(), 6, 3}, .rows = 6, .data_size = 6};
  }
};

Start convolutions(std::function<void(torch::nn::Module&)> draw_start = {}) {
  const auto network = std::make_shared<ConvolutionNetwork>();
  return {network,
          {.log_likelihood =
               [network](const Batch<float>& batch) {
                 return squares(network->forward(tensor_view(batch.inputs.dense)), batch);
               },
           .output_count = 3,
           .draw_start = std::move(draw_start),
           .draws_numbers = false}};
}

Start recurrent(std::function<void(torch::nn::Module&)> draw_start = {}) {
  const auto network = std::make_shared<SequenceNetwork>();
  return {network,
          {.log_likelihood =
               [network](const Batch<float>& batch) {
                 return squares(network->forward(tensor_view(batch.inputs.tokens).to(at::kLong)), batch);
               },
           .output_count = 3,
           .draw_start = std::move(draw_start)}};
}

}  // namespace

TEST_CASE("a convolutional network with batch normalisation starts with a gradient everywhere",
          "[inference][module][start]") {
  Start start = convolutions(GENERATE(true, false) ? draw_layers : std::function<void(torch::nn::Module&)>());
  const Images images;
  start.check_gradients(images.batch);
  for (const LayoutEntry& entry : start.layout().entries()) {
    CAPTURE(entry.name);
    if (entry.role == Role::gain)
      for (std::int64_t i = 0; i < 3; ++i)
        CHECK(std::ranges::all_of(start.values(entry, i), [](float g) { return g == 1; }));
    if (entry.role == Role::weight) CHECK(!std::ranges::equal(start.values(entry, 0), start.values(entry, 1)));
  }
}

TEST_CASE("a layer-normalised LSTM starts with a gradient everywhere", "[inference][module][start]") {
  Start start = recurrent(GENERATE(true, false) ? draw_layers : std::function<void(torch::nn::Module&)>());
  const Texts texts;
  start.check_gradients(texts.batch);
  CHECK(start.layout().entries()[0].name == "lstm.weight_ih_l0");  // recurrent layers come first
  CHECK(start.layout().at("norm.weight").role == Role::gain);
  for (const LayoutEntry& entry : start.layout().entries())
    if (entry.role == Role::weight) CHECK(!std::ranges::equal(start.values(entry, 0), start.values(entry, 1)));
}

TEST_CASE("weights start with the fan-in of their kind of layer", "[inference][module][start]") {
  Start images = convolutions(), texts = recurrent();
  const auto check = [](Start& start, const char* name, std::int64_t fan_in) {
    CAPTURE(name);
    const LayoutEntry& entry = start.layout().at(name);
    CHECK(entry.fan_in == fan_in);
    // Σ x² is a multiple of χ²; 6 of its sd, false alarms below 1e-8 each.
    const auto n = static_cast<double>(entry.size());
    CHECK(start.square(entry, 1) * static_cast<double>(fan_in) / 2 == Approx(1).margin(6 * std::sqrt(2 / n)));
  };
  check(images, "first.weight", 9);
  check(images, "second.weight", 16 * 9);
  check(images, "head.weight", 32);
  check(texts, "embedding.weight", 1);
  check(texts, "lstm.weight_ih_l0", 12);
  check(texts, "lstm.weight_hh_l0", 16);

  // 8 × 8 places of 48 / 2 images, 2 × 2 of the kernel's 4 × 4 at each.
  torch::nn::ConvTranspose2d up(torch::nn::ConvTranspose2dOptions(48, 4, 4).stride(2).groups(2));
  Start transposed(up.ptr(), {.log_likelihood = [&](const Batch<float>&) { return up->weight.sum(); }});
  check(transposed, "weight", 24 * 2 * 2);
}

TEST_CASE("the module's own start is drawn anew for every particle, and the same for every shard",
          "[inference][module][start]") {
  Start start = recurrent(draw_layers);
  // LibTorch draws an LSTM from U(−1/√H, 1/√H): variance 1/(3 H).
  const LayoutEntry& hidden = start.layout().at("lstm.weight_hh_l0");
  CHECK(start.square(hidden, 2) * 3 * 16 == Approx(1).margin(6 * std::sqrt(0.8 / static_cast<double>(hidden.size()))));
  CHECK(std::ranges::all_of(start.values(hidden, 2), [](float x) { return std::abs(x) <= 0.25F; }));
  Particles<float> shard(start.posterior->layout(), 1, 2, 3);
  start.posterior->initialise(shard, 11, 1);
  CHECK(std::ranges::equal(shard.values().row(0), start.particles.values().row(2)));
}

TEST_CASE("a layer that nobody knows says so when it is to draw its parameters", "[inference][module][start]") {
  struct Own : torch::nn::Module {
    at::Tensor weight = register_parameter("weight", at::ones({2, 2}));
  };
  Own own;
  CHECK_ERROR(draw_layers(own), usage, "has parameters of its own");
}
