// Feeds of captions of scenes.
#pragma once

#include "fuzz/input.h"

namespace stein::test {

/// Every line as a caption, which is judged of several scenes.
void read_scene_captions(const Input& input);

}  // namespace stein::test
