// The captioned scenes that come with Stein: `scenes` of the registry of caption sets. They stand in for pictures with
// captions by people, and whether a caption is true of its scene can be told exactly (caption_truth.h).
// How the features of their pictures were made stands in scene_features.h.
#pragma once

#include <stein/lm/scenes/scene.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::lm {

/// How many scenes each part has, and from which seed.
struct SceneSetOptions {
  std::int64_t train = 2000, validation = 300, test = 300;
  std::uint64_t seed = 0;
};

/// A scene and the number under which it, its picture (draw_picture) and its captions (draw_captions) are drawn.
struct NumberedScene {
  std::uint32_t index;
  Scene scene;
};

/// Scenes in three parts. No scene is there twice.
struct SceneSet {
  std::uint64_t seed;
  std::vector<NumberedScene> train, validation, test;

  /// The scenes of all parts, one behind the other: in the order of the rows of features.
  std::vector<NumberedScene> all() const;
};

/// Draws scenes 0, 1, … of the seed, leaves out those that were there before, and deals them to the parts in order.
/// Throws Error(usage) unless each part has at least one scene and all have at most 1,000,000.
SceneSet draw_scene_set(const SceneSetOptions& options = {});

/// SHA-256 of the numbers and descriptions of all scenes: equal sets have equal ones.
std::string scene_set_checksum(const SceneSet& set);

/// The id of a scene as a captioned image: "scene-17" for index 17.
std::string scene_id(const NumberedScene& scene);

}  // namespace stein::lm
