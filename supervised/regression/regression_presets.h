// Published regressions by name.
#pragma once

#include <stein/training/published_preset.h>

#include <vector>

namespace stein::supervised {

/// "boston-s2vgd", …: each table of Zhang et al. 2018 with each of its methods.
const std::vector<training::PublishedPreset>& regression_presets();

}  // namespace stein::supervised
