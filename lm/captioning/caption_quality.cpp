#include <stein/core/error.h>
#include <stein/lm/captioning/caption_quality.h>
#include <stein/lm/captions/caption_scores.h>
#include <stein/lm/scenes/caption_truth.h>
#include <stein/lm/scenes/scene_set.h>

#include <algorithm>

namespace stein::lm {
namespace {

TruthShares truth_of(std::span<const CandidateCaption> captions, const std::map<std::string, Scene>& scenes) {
  TruthShares shares;  // counts at first, which are exact
  for (const CandidateCaption& caption : captions) {
    const auto scene = scenes.find(caption.id);
    STEIN_CHECK(scene != scenes.end(), "there is no scene '{}'", caption.id);
    switch (judge_caption(caption.caption, scene->second).truth) {
      case Truth::is_true: ++shares.is_true; break;
      case Truth::is_false: ++shares.is_false; break;
      case Truth::no_caption: ++shares.no_caption; break;
    }
  }
  for (double* share : {&shares.is_true, &shares.is_false, &shares.no_caption})
    *share /= static_cast<double>(captions.size());
  return shares;
}

}  // namespace

double CaptionQuality::metric(std::string_view name) const {
  const auto place = std::ranges::find(metrics, name, &std::pair<std::string, double>::first);
  STEIN_CHECK(place != metrics.end(), "there is no caption metric '{}'", name);
  return place->second;
}

CaptionQuality mean_quality(std::span<const CaptionQuality> qualities) {
  STEIN_CHECK(!qualities.empty(), "the mean of captions' worth needs at least one");
  CaptionQuality mean = qualities.front();
  const auto average = [&](const auto& of) {
    double sum = 0;
    for (const CaptionQuality& each : qualities) sum += of(each);
    return sum / static_cast<double>(qualities.size());
  };
  for (auto& metric : mean.metrics)
    metric.second = average([&](const CaptionQuality& each) { return each.metric(metric.first); });
  if (mean.truth)
    mean.truth = {.is_true = average([](const CaptionQuality& each) { return each.truth->is_true; }),
                  .is_false = average([](const CaptionQuality& each) { return each.truth->is_false; }),
                  .no_caption = average([](const CaptionQuality& each) { return each.truth->no_caption; })};
  return mean;
}

std::map<std::string, Scene> scenes_by_id() {
  std::map<std::string, Scene> scenes;
  for (const NumberedScene& scene : draw_scene_set().all()) scenes.emplace(scene_id(scene), scene.scene);
  return scenes;
}

std::vector<CandidateCaption> candidate_captions(std::span<const CaptionedImage> images,
                                                 std::span<const std::string> captions) {
  STEIN_CHECK(images.size() == captions.size(), "expected a caption of each of {} images, got {}", images.size(),
              captions.size());
  std::vector<CandidateCaption> candidates;
  for (std::size_t i = 0; i < images.size(); ++i)
    candidates.push_back({.id = images[i].id, .caption = captions[i], .references = images[i].captions});
  return candidates;
}

CaptionQuality caption_quality(std::span<const CandidateCaption> captions, const std::map<std::string, Scene>& scenes) {
  CaptionQuality found;
  for (const NamedMetric& metric : score_captions(captions))
    found.metrics.emplace_back(std::string(metric.name), metric.metric.corpus);
  if (!scenes.empty()) found.truth = truth_of(captions, scenes);
  return found;
}

}  // namespace stein::lm
