#include <stein/lm/captions/caption_data.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_set.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/error_matcher.h"

namespace stein::lm {
namespace {

TEST_CASE("the parts of the set have no scene in common, and none twice", "[lm][scenes]") {
  const SceneSet set = draw_scene_set();
  CHECK(set.train.size() == 2000);
  CHECK(set.validation.size() == 300);
  CHECK(set.test.size() == 300);
  const std::vector<NumberedScene> all = set.all();
  REQUIRE(all.size() == 2600);
  std::set<std::uint32_t> indices;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(indices.insert(all[i].index).second);
    CHECK(all[i].scene == draw_scene(set.seed, all[i].index));
    for (std::size_t j = 0; j < i; ++j)
      if (std::ranges::is_permutation(all[i].scene.objects, all[j].scene.objects))
        FAIL_CHECK("scenes " << i << " and " << j << " are the same");
  }
  CHECK(all[1999].index == set.train.back().index);
  CHECK(all[2000].index == set.validation.front().index);
}

TEST_CASE("a scene that was there before is left out of a set", "[lm][scenes]") {
  // 30,000 single objects among 48 kinds with a few thousand places each: some fall together.
  const SceneSet set = draw_scene_set({.train = 80'000, .validation = 1, .test = 1});
  CHECK(set.test.back().index > 80'001);
  std::set<std::string> seen;
  for (const NumberedScene& scene : set.all()) CHECK(seen.insert(describe(scene.scene)).second);
}

TEST_CASE("the set is that from which the features were made", "[lm][scenes]") {
  CHECK(scene_set_checksum(draw_scene_set()) == "0ffd257fd10ef9b2a949486eef96744123efd02f2a4c2f802bdfa6b27a6ce150");
  CHECK(scene_set_checksum(draw_scene_set({.seed = 1})) != scene_set_checksum(draw_scene_set()));
  CHECK_ERROR(draw_scene_set({.test = 0}), usage, "1 to 1000000", "got 0");
  CHECK_ERROR(draw_scene_set({.train = 900'000, .test = 200'000}), usage, "at most 1000000");
}

TEST_CASE("the scenes that come with Stein have features and five captions each", "[lm][scenes]") {
  CHECK(caption_sets().names() == std::vector<std::string>{"flickr8k", "scenes"});
  const CaptionData data = read_caption_data({});
  CHECK(data.name == "scenes");
  CHECK(data.synthetic);
  CHECK(data.train.size() == 2000);
  CHECK(data.validation.size() == 300);
  CHECK(data.test.size() == 300);
  CHECK(data.features.rows() == 2600);
  CHECK(data.train[17].id == "scene-17");
  CHECK(data.test[0].row == 2300);
  // Row r of the features is that of scene r of the set, and so are the captions.
  const std::vector<NumberedScene> scenes = draw_scene_set().all();
  for (const auto* part : {&data.train, &data.validation, &data.test})
    for (const CaptionedImage& image : *part) {
      const NumberedScene& scene = scenes[static_cast<std::size_t>(image.row)];
      CHECK(image.id == scene_id(scene));
      CHECK(image.captions.size() == 5);
      for (const std::string& caption : image.captions)
        CHECK(judge_caption(caption, scene.scene).truth == Truth::is_true);
    }
  CHECK(data.checksums.size() == 1);
  CHECK_FALSE(read_caption_data({.captions_only = true}).has_features());
}

}  // namespace
}  // namespace stein::lm
