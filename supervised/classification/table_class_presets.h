// Published classifiers of tables by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::supervised {

/// "covertype-svgd", "covertype-s2vgd": the study of K and M of Zhang et al. 2018, section 5.
const std::vector<training::PublishedPreset>& table_class_presets();

}  // namespace stein::supervised
