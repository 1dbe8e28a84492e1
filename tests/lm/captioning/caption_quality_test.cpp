// What decoded captions are worth.
#include <stein/lm/captioning/caption_quality.h>
#include <stein/lm/captions/caption_scores.h>
#include <stein/lm/scenes/scene_grammar.h>
#include <stein/lm/scenes/scene_set.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"
#include "core/written_file.h"

namespace stein::lm {
namespace {

TEST_CASE("captions of scenes are judged exactly", "[lm][caption][quality]") {
  const auto scenes = scenes_by_id();
  CHECK(scenes.size() == 2600);
  const CaptionData data = read_caption_data({.captions_only = true});
  const std::vector<CaptionedImage> images(data.test.begin(), data.test.begin() + 4);
  // One true, as references are; one of another scene's many things; one that is no caption; one that is empty.
  const std::vector<std::string> captions{images[0].captions[2], "there are three red circles and three blue circles",
                                          "a dog runs", ""};
  const CaptionQuality quality = caption_quality(candidate_captions(images, captions), scenes);
  REQUIRE(quality.truth.has_value());
  CHECK(quality.truth->is_true == Approx(0.25));
  CHECK(quality.truth->is_true + quality.truth->is_false + quality.truth->no_caption == Approx(1));
  CHECK(quality.truth->no_caption >= 0.5 - 1e-12);
  CHECK(!caption_quality(candidate_captions(images, captions), {}).truth.has_value());
  CHECK(quality.metric("BLEU-1") > 0);
  CHECK_ERROR(quality.metric("SPICE"), usage, "'SPICE'");
  CHECK_ERROR(candidate_captions(images, std::vector<std::string>{"a"}), usage, "each of 4 images, got 1");
}

TEST_CASE("the worth of several models is averaged", "[lm][caption][quality]") {
  const std::vector<CaptionQuality> two{
      {.metrics = {{"BLEU-1", 0.2}, {"CIDEr-D", 1}}, .truth = TruthShares{0.5, 0.25, 0.25}},
      {.metrics = {{"BLEU-1", 0.4}, {"CIDEr-D", 2}}, .truth = TruthShares{0.7, 0.3, 0}}};
  const CaptionQuality mean = mean_quality(two);
  CHECK(mean.metric("BLEU-1") == Approx(0.3));
  CHECK(mean.metric("CIDEr-D") == Approx(1.5));
  CHECK(mean.truth->is_true == Approx(0.6));
  CHECK(mean.truth->no_caption == Approx(0.125));
  CHECK_ERROR(mean_quality({}), usage, "at least one");
}

TEST_CASE("captions that are written are read back with their references, and score the same",
          "[lm][caption][quality]") {
  const test::TemporaryDirectory folder;
  const std::vector<CandidateCaption> images{{"b.jpg", "a red ball", {"a red ball here", "the \"red\" ball"}},
                                             {"17", "", {"é"}}};
  const auto captions = test::write(folder / "captions.json", captions_json(images).dump());
  const auto references = test::write(folder / "references.json", references_json(images).dump());
  const auto again = read_captions(captions, references);
  REQUIRE(again.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again[i].id == images[i].id);
    CHECK(again[i].caption == images[i].caption);
    CHECK(again[i].references == images[i].references);
  }
  const auto before = score_captions(images), after = score_captions(again);
  for (std::size_t k = 0; k < before.size(); ++k) CHECK(before[k].metric.corpus == after[k].metric.corpus);
}

}  // namespace
}  // namespace stein::lm
