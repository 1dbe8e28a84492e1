#include <fmt/format.h>
#include <stein/core/checksum.h>
#include <stein/core/error.h>
#include <stein/lm/captions/caption_data.h>
#include <stein/lm/scenes/scene_features.h>
#include <stein/lm/scenes/scene_grammar.h>
#include <stein/lm/scenes/scene_set.h>

#include <set>

namespace stein::lm {
namespace {

CaptionData read_scenes(const CaptionDataOptions& options) {
  const SceneSet set = draw_scene_set();
  CaptionData data{.name = "scenes", .synthetic = true};
  std::int64_t row = 0;
  const auto caption = [&](const std::vector<NumberedScene>& scenes) {
    std::vector<CaptionedImage> images;
    images.reserve(scenes.size());
    for (const NumberedScene& scene : scenes)
      images.push_back({scene_id(scene), row++, draw_captions(scene.scene, set.seed, scene.index)});
    return images;
  };
  data.train = caption(set.train), data.validation = caption(set.validation), data.test = caption(set.test);
  if (options.captions_only) return data;
  const std::filesystem::path file = scene_features_file();
  data.features = read_scene_features(file, set);
  data.checksums[file.filename().string()] = sha256_file(file);
  return data;
}

const bool registered = caption_sets().add(
    "scenes",
    {"2,000 / 300 / 300 made-up scenes of coloured shapes, five captions each, all of them true", read_scenes});

}  // namespace

std::vector<NumberedScene> SceneSet::all() const {
  std::vector<NumberedScene> scenes = train;
  scenes.insert(scenes.end(), validation.begin(), validation.end());
  scenes.insert(scenes.end(), test.begin(), test.end());
  return scenes;
}

SceneSet draw_scene_set(const SceneSetOptions& options) {
  constexpr std::int64_t most = 1'000'000;
  for (const std::int64_t count : {options.train, options.validation, options.test})
    STEIN_CHECK(count >= 1 && count <= most, "each part of a set of scenes needs 1 to {} scenes, got {}", most, count);
  STEIN_CHECK(options.train + options.validation + options.test <= most, "a set has at most {} scenes, got {}", most,
              options.train + options.validation + options.test);
  SceneSet set{.seed = options.seed};
  std::set<std::string> seen;
  std::uint32_t index = 0;
  const auto draw_part = [&](std::int64_t count) {
    std::vector<NumberedScene> part;
    for (; std::ssize(part) < count; ++index)
      if (Scene scene = draw_scene(options.seed, index); seen.insert(describe(scene)).second)
        part.push_back({index, std::move(scene)});
    return part;
  };
  set.train = draw_part(options.train);
  set.validation = draw_part(options.validation);
  set.test = draw_part(options.test);
  return set;
}

std::string scene_set_checksum(const SceneSet& set) {
  Sha256 checksum;
  for (const NumberedScene& scene : set.all()) {
    const std::string text = fmt::format("{}: {}", scene.index, describe(scene.scene));
    checksum.update(std::as_bytes(std::span(text)));
  }
  return checksum.finish();
}

std::string scene_id(const NumberedScene& scene) {
  return fmt::format("scene-{}", scene.index);
}

}  // namespace stein::lm
