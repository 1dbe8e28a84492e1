// Features of the pictures of scenes, as a small file: a byte for each number.
//
// Those that come with Stein (share/stein/scenes/scene_features.safetensors) are the last hidden layer of the
// convolutional network that examples/scene_features trains on 40,000 scenes of another seed, to say which shapes,
// colours and sizes are where in a picture. Built against Stein as any example, it made them by
//
//     OMP_NUM_THREADS=1 example_scene_features scene_features.safetensors
//
// How well they tell what is in a picture is measured in tests/lm/scenes/scene_features_test.cpp.
#pragma once

#include <stein/inference/storage/matrix.h>
#include <stein/lm/scenes/scene_set.h>

#include <filesystem>

namespace stein::lm {

/// Writes `features` [scenes of all parts, F] atomically, each as the nearest of 256 numbers that divide the range of
/// its column evenly: `features` (bytes [scenes, F]), `low` and `step` ([F]), so that a feature is low + step × byte.
/// The text `scenes` is the set's checksum. Throws Error(usage) for another number of rows than scenes, no column, or a
/// number that is not finite; Error(io).
void write_scene_features(const std::filesystem::path& path, inference::MatrixView<const float> features,
                          const SceneSet& set);

/// Reads such a file [scenes of all parts, F]. Throws Error(data) naming the file if it is none, or of other scenes
/// than those of `set`.
inference::Matrix<float> read_scene_features(const std::filesystem::path& path, const SceneSet& set);

/// Where the features of the set `scenes` lie. Throws Error(io) naming the file if it is missing.
std::filesystem::path scene_features_file();

}  // namespace stein::lm
