// Networks that read images, on LibTorch.
#pragma once

#include <stein/inference/model.h>
#include <stein/inference/models/image_network_spec.h>

#include <memory>

namespace stein::inference {

/// The likelihood of classes given images: dense inputs [n, channels · height · width], a class for each. Layers start
/// as LibTorch draws them. Dropout is drawn in training, and in predictions that have a key for it. Normalisations have
/// running statistics with a momentum of .1, which are the buffers of the layout.
/// @throws Error(usage) for sizes that make no sense, and for images that are too small for the pooling
std::unique_ptr<Model<float>> make_image_network(const ImageNetworkSpec& spec, Device device);

}  // namespace stein::inference
