// The network of a run on images, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/arithmetic.h>
#include <stein/inference/model.h>
#include <stein/inference/models/image_network_spec.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/precision_option.h>

#include <cstdint>
#include <memory>
#include <string>

namespace stein::supervised {

/// Which layers, and how many units are dropped; the sizes of images and the number of classes are the data's affair.
struct ImageNetworkOptions {
  inference::ImageNetworkSpec spec{.network = inference::ImageNetwork::perceptron, .hidden = {400, 400}};
  inference::Activation activation = inference::Activation::relu;

  template <class V>
  void describe(V& v) {
    using inference::ImageNetwork;
    v("network", spec.network,
      "perceptron: fully connected; conv-2-fc-2 and conv-2-bn-fc-3: the shallow ones of Deng et al. (2019); resnet-20 "
      "of "
      "He et al. (2016); all but the perceptron on LibTorch",
      {{"perceptron", ImageNetwork::perceptron},
       {"conv-2-fc-2", ImageNetwork::conv2_fc2},
       {"conv-2-bn-fc-3", ImageNetwork::conv2_bn_fc3},
       {"resnet-20", ImageNetwork::resnet20}});
    v("hidden", spec.hidden, "of a perceptron: widths of the hidden layers; none: softmax regression", between(1, 1e5));
    v("activation", activation, "of a perceptron without dropout",
      {{"relu", inference::Activation::relu}, {"tanh", inference::Activation::tanh}});
    inference::describe_precision(
        v, spec.precision,
        "products of matrices and convolutions in float, or on a GPU with both factors rounded to "
        "bfloat16 or tf32 (of a perceptron where it is too large for a block of threads)");
    v("dropout", spec.dropout,
      "share of the units of fully connected hidden layers that is dropped in training (on LibTorch)",
      Range{.low = 0, .high = 1, .high_open = true});
  }
  /// "mlp 784-400-400-10", "resnet-20".
  std::string name() const;
  /// The likelihood of classes given images. @param networks  how many are trained side by side and share the cores
  /// @throws Error(usage) for a network that makes no sense or fits neither the images nor the device, and for LibTorch
  ///         where Stein was built without it
  std::unique_ptr<inference::Model<float>> make_model(inference::Arithmetic arithmetic, inference::Device device,
                                                      std::int64_t networks) const;
};

}  // namespace stein::supervised
