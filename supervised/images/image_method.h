// How weights are found from images where nothing else is said.
#pragma once

#include <stein/training/weight_method.h>

#include <string_view>

namespace stein::supervised {

/// An ensemble: a chain at temperature 1 under N(0, 1) for every weight predicts worse than its own optimizer within
/// the usual epochs.
inline constexpr std::string_view image_method = "svgd";

/// Gaussians of the weights start narrow there, all layers alike: those of the defaults, which are of recurrent
/// networks, drown a layer of 784 inputs in noise from which 20 epochs do not recover.
void adapt_to_images(training::WeightMethodOptions& method);

}  // namespace stein::supervised
