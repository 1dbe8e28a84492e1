#include <stein/core/error.h>
#include <stein/torch/image_network.h>
#include <stein/torch/module_model.h>
#include <stein/torch/module_start.h>
#include <stein/torch/tensor_view.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::inference {
namespace {

using at::Tensor;
using torch::nn::Linear;

/// A convolution that knows how many places the map had that it made last.
class ConvolutionImpl final : public torch::nn::Conv2dImpl {
 public:
  using Conv2dImpl::Conv2dImpl;
  Tensor forward(const Tensor& x) {
    Tensor map = Conv2dImpl::forward(x);
    places_ = map.size(2) * map.size(3);
    return map;
  }
  std::int64_t places() const { return places_; }

 private:
  std::int64_t places_ = 0;
};
TORCH_MODULE(Convolution);

/// Images [n, channels, height, width] to logits [n, classes].
class ImageModule : public torch::nn::Module {
 public:
  virtual Tensor logits(Tensor images) = 0;
};

Convolution convolution(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding,
                        std::int64_t stride = 1, bool bias = true) {
  return Convolution(torch::nn::Conv2dOptions(in, out, kernel).padding(padding).stride(stride).bias(bias));
}

/// What is left of a side after a convolution and a pooling of two.
std::int64_t pooled(std::int64_t side, std::int64_t kernel, std::int64_t padding) {
  return (side + 2 * padding - kernel + 1) / 2;
}

class Perceptron final : public ImageModule {
 public:
  explicit Perceptron(const ImageNetworkSpec& spec) : dropout_(spec.dropout) {
    std::int64_t inputs = spec.pixels();
    for (const std::int64_t width : spec.hidden) inputs = add_layer(inputs, width);
    add_layer(inputs, spec.classes);
  }
  Tensor logits(Tensor images) override {
    Tensor x = images.flatten(1);
    for (std::size_t i = 0; i + 1 < layers_.size(); ++i)
      x = at::dropout(layers_[i]->forward(x).relu(), dropout_, is_training());
    return layers_.back()->forward(x);
  }

 private:
  std::int64_t add_layer(std::int64_t inputs, std::int64_t outputs) {
    layers_.push_back(register_module("layer" + std::to_string(layers_.size()), Linear(inputs, outputs)));
    return outputs;
  }

  double dropout_;
  std::vector<Linear> layers_;
};

/// Two convolutions with pooling, and hidden layers.
class ShallowNetwork final : public ImageModule {
 public:
  explicit ShallowNetwork(const ImageNetworkSpec& spec)
      : dropout_(spec.dropout), normalises_(spec.network == ImageNetwork::conv2_bn_fc3) {
    // Paddings are ours where the paper says none: those with which the weights are about as many as it says, 670,000
    // and 490,000.
    const std::int64_t kernel = normalises_ ? 4 : 5, first_maps = normalises_ ? 64 : 32, maps = 64,
                       first_padding = normalises_ ? 1 : 2, second_padding = normalises_ ? 0 : 2;
    const auto left = [&](std::int64_t side) {
      return pooled(pooled(side, kernel, first_padding), kernel, second_padding);
    };
    const std::int64_t height = left(spec.height), width = left(spec.width);
    STEIN_CHECK(height >= 1 && width >= 1, "images of {} x {} are too small for the network {}", spec.height,
                spec.width, image_network_name(spec.network));
    first_ = register_module("convolution0", convolution(spec.channels, first_maps, kernel, first_padding));
    second_ = register_module("convolution1", convolution(first_maps, maps, kernel, second_padding));
    std::int64_t inputs = maps * height * width;
    for (const std::int64_t units : normalises_ ? std::vector<std::int64_t>{256, 64} : std::vector<std::int64_t>{200}) {
      hidden_.push_back(register_module("hidden" + std::to_string(hidden_.size()), Linear(inputs, units)));
      inputs = units;
    }
    if (normalises_)
      normalisation_ = register_module("normalisation", torch::nn::BatchNorm1d(hidden_[0]->options.out_features()));
    output_ = register_module("output", Linear(inputs, spec.classes));
  }
  Tensor logits(Tensor images) override {
    Tensor x = images;
    for (Convolution* layer : {&first_, &second_}) x = at::max_pool2d((*layer)->forward(x).relu(), 2);
    x = x.flatten(1);
    for (std::size_t i = 0; i < hidden_.size(); ++i) {
      x = hidden_[i]->forward(x);
      if (normalises_ && i == 0) x = normalisation_->forward(x);
      x = at::dropout(x.relu(), dropout_, is_training());
    }
    return output_->forward(x);
  }

 private:
  double dropout_;
  bool normalises_;
  Convolution first_{nullptr}, second_{nullptr};
  std::vector<Linear> hidden_;
  torch::nn::BatchNorm1d normalisation_{nullptr};
  Linear output_{nullptr};
};

/// Two convolutions 3 x 3 with normalisation beside a path of identity, which where sizes change takes every second
/// pixel and has zeros in the new maps (option A of He et al. 2016, which has no weights).
class ResidualBlock final : public torch::nn::Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t out) : new_maps_(out - in) {
    const std::int64_t stride = in == out ? 1 : 2;
    first_ = register_module("convolution0", convolution(in, out, 3, 1, stride, false));
    second_ = register_module("convolution1", convolution(out, out, 3, 1, 1, false));
    first_norm_ = register_module("normalisation0", torch::nn::BatchNorm2d(out));
    second_norm_ = register_module("normalisation1", torch::nn::BatchNorm2d(out));
  }
  Tensor forward(const Tensor& x) {
    Tensor y = first_norm_->forward(first_->forward(x)).relu();
    y = second_norm_->forward(second_->forward(y));
    return (y + beside(x)).relu();
  }

 private:
  Tensor beside(const Tensor& x) const {
    if (new_maps_ == 0) return x;
    const Tensor every_second = x.slice(2, 0, c10::nullopt, 2).slice(3, 0, c10::nullopt, 2);
    return at::constant_pad_nd(every_second, {0, 0, 0, 0, new_maps_ / 2, new_maps_ - new_maps_ / 2});
  }

  std::int64_t new_maps_;
  Convolution first_{nullptr}, second_{nullptr};
  torch::nn::BatchNorm2d first_norm_{nullptr}, second_norm_{nullptr};
};

class ResidualNetwork final : public ImageModule {
 public:
  explicit ResidualNetwork(const ImageNetworkSpec& spec) {
    STEIN_CHECK(spec.dropout == 0, "the network resnet-20 has no dropout, got dropout={}", spec.dropout);
    STEIN_CHECK(spec.height >= 4 && spec.width >= 4, "images of {} x {} are too small for the network resnet-20",
                spec.height, spec.width);
    first_ = register_module("convolution", convolution(spec.channels, 16, 3, 1, 1, false));
    normalisation_ = register_module("normalisation", torch::nn::BatchNorm2d(16));
    std::int64_t in = 16;
    for (const std::int64_t out : {16, 32, 64})
      for (int block = 0; block < 3; ++block) {
        blocks_.push_back(
            register_module("block" + std::to_string(blocks_.size()), std::make_shared<ResidualBlock>(in, out)));
        in = out;
      }
    output_ = register_module("output", Linear(in, spec.classes));
  }
  Tensor logits(Tensor images) override {
    Tensor x = normalisation_->forward(first_->forward(images)).relu();
    for (const auto& block : blocks_) x = block->forward(x);
    return output_->forward(x.mean(at::IntArrayRef{2, 3}));
  }

 private:
  Convolution first_{nullptr};
  torch::nn::BatchNorm2d normalisation_{nullptr};
  std::vector<std::shared_ptr<ResidualBlock>> blocks_;
  Linear output_{nullptr};
};

std::shared_ptr<ImageModule> make_module(const ImageNetworkSpec& spec) {
  switch (spec.network) {
    case ImageNetwork::perceptron: return std::make_shared<Perceptron>(spec);
    case ImageNetwork::resnet20: return std::make_shared<ResidualNetwork>(spec);
    default: return std::make_shared<ShallowNetwork>(spec);
  }
}

/// How many places the maps of convolutions have, by the names of their parameters.
std::map<std::string, std::int64_t, std::less<>> map_places(ImageModule& module, const ImageNetworkSpec& spec) {
  const c10::NoGradGuard no_gradient;
  module.eval();  // normalisations take no statistics of one image
  static_cast<void>(module.logits(at::zeros({1, spec.channels, spec.height, spec.width})));
  module.train();
  std::map<std::string, std::int64_t, std::less<>> places;
  for (const auto& layer : module.named_modules())
    if (const auto* const convolution = layer.value()->as<ConvolutionImpl>())
      for (const auto& parameter : convolution->named_parameters())
        places[layer.key() + "." + parameter.key()] = convolution->places();
  return places;
}

}  // namespace

std::unique_ptr<Model<float>> make_image_network(const ImageNetworkSpec& spec, Device device) {
  STEIN_CHECK(spec.channels >= 1 && spec.height >= 1 && spec.width >= 1 && spec.classes >= 2,
              "expected images of at least one pixel in two classes, got {} x {} x {} in {}", spec.channels,
              spec.height, spec.width, spec.classes);
  STEIN_CHECK(spec.dropout >= 0 && spec.dropout < 1, "expected a dropout in [0, 1), got {}", spec.dropout);
  const std::shared_ptr<ImageModule> module = make_module(spec);
  const at::Device place = tensor_device(device);
  const auto logits = [module = module.get(), spec](const Tensor& dense) {
    STEIN_CHECK(dense.size(1) == spec.pixels(), "the network reads images of {} numbers, got {}", spec.pixels(),
                dense.size(1));
    return module->logits(dense.view({-1, spec.channels, spec.height, spec.width}));
  };
  const auto outputs = [logits, place](const Inputs<float>& inputs) {
    STEIN_CHECK(inputs.dense.data != nullptr, "the network reads images as rows of numbers");
    return logits(sent_to(place, tensor_view(inputs.dense)).contiguous());
  };
  ModuleFunctions functions;
  functions.logits = logits;
  functions.outputs = outputs;
  functions.log_likelihood = [outputs, place](const Batch<float>& batch) {
    const Tensor classes = sent_to(place, tensor_view(batch.targets).flatten()).to(at::kLong);
    const auto summed = torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum);
    return -torch::nn::functional::cross_entropy(outputs(batch.inputs), classes, summed);
  };
  functions.output_count = spec.classes;
  functions.draw_start = draw_layers;
  functions.uses = [places = map_places(*module, spec)](std::string_view parameter) {
    const auto found = places.find(parameter);
    return found == places.end() ? 1 : found->second;
  };
  functions.draws_numbers = spec.dropout > 0;
  return std::make_unique<ModuleModel>(module, std::move(functions), device, spec.precision);
}

}  // namespace stein::inference
