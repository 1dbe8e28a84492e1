// Published classifiers of images by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::supervised {

/// "mnist-400-s2vgd", …: the perceptrons of Zhang et al. 2018, section 5, with each of its methods.
const std::vector<training::PublishedPreset>& image_class_presets();

}  // namespace stein::supervised
