// Networks that read images, as data: which layers, of which sizes.
#pragma once

#include <stein/inference/precision.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace stein::inference {

/// Layers between an image and its logits.
enum class ImageNetwork {
  perceptron,    ///< fully connected
  conv2_fc2,     ///< two convolutions 5 x 5 of 32 and 64 maps, each with pooling, 200 hidden (Deng et al. 2019, E.1)
  conv2_bn_fc3,  ///< two convolutions 4 x 4 of 64 maps, each with pooling, 256 hidden with normalisation, 64 (ibid.)
  resnet20,      ///< three stages of three residual blocks, 16, 32 and 64 maps (He et al. 2016, section 4.2)
};

/// "conv-2-fc-2".
constexpr std::string_view image_network_name(ImageNetwork network) {
  constexpr std::string_view names[] = {"perceptron", "conv-2-fc-2", "conv-2-bn-fc-3", "resnet-20"};
  return names[static_cast<int>(network)];
}

/// A network of ReLU units for images of one size.
struct ImageNetworkSpec {
  ImageNetwork network = ImageNetwork::conv2_fc2;
  std::int64_t channels = 1, height = 28, width = 28, classes = 10;
  std::vector<std::int64_t> hidden{};  ///< of a perceptron
  double dropout = 0;  ///< share of the units of fully connected hidden layers that is dropped in training
  Precision precision = Precision::single;  ///< of products and convolutions; others on a GPU only

  std::int64_t pixels() const { return channels * height * width; }
};

}  // namespace stein::inference
