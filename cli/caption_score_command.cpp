// stein caption score: captions against references, by the metrics of the COCO caption evaluation.
#include <stein/lm/captions/caption_scores.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ScoreArguments {
  std::string captions, references;
  bool per_image = false, partial = false;
  CommonOptions common;
};

Json scores_of(const std::vector<lm::CandidateCaption>& images, bool per_image) {
  const std::vector<lm::NamedMetric> metrics = lm::score_captions(images);
  Json scores{{"images", images.size()}};
  for (const lm::NamedMetric& metric : metrics) scores[std::string(metric.name)] = metric.metric.corpus;
  if (!per_image) return scores;
  for (std::size_t i = 0; i < images.size(); ++i) {
    Json own;
    for (const lm::NamedMetric& metric : metrics) own[std::string(metric.name)] = metric.metric.images[i];
    scores["per_image"][images[i].id] = std::move(own);
  }
  return scores;
}

int score(const ScoreArguments& arguments) {
  const auto uncaptioned = arguments.partial ? lm::UncaptionedImages::left_out : lm::UncaptionedImages::refused;
  const std::vector<lm::CandidateCaption> images =
      lm::read_captions(arguments.captions, arguments.references, uncaptioned);
  const Json scores = scores_of(images, arguments.per_image);
  if (arguments.common.json) {
    std::fputs((scores.dump(2) + "\n").c_str(), stdout);
    return 0;
  }
  for (const auto& [name, value] : scores.items())
    if (value.is_number_float()) std::fputs(fmt::format("{:<18}{:.4f}\n", name, value.get<double>()).c_str(), stdout);
  if (!arguments.per_image) return 0;
  for (const auto& [id, own] : scores["per_image"].items()) {
    std::string line = id;
    for (const auto& [name, value] : own.items()) line += fmt::format("  {} {:.4f}", name, value.get<double>());
    std::fputs((line + "\n").c_str(), stdout);
  }
  return 0;
}

}  // namespace

Action caption_score_command(CLI::App& command, const Arguments&) {
  const auto arguments = std::make_shared<ScoreArguments>();
  command.add_option("CAPTIONS", arguments->captions, R"(JSON: [{"image_id": …, "caption": "…"}, …], plain or .gz)")
      ->required();
  command
      .add_option("REFERENCES", arguments->references,
                  R"(JSON: {"images": [{"id": …}, …], "annotations": [{"image_id": …, "caption": "…"}, …]})")
      ->required();
  command.add_flag("--per-image", arguments->per_image, "Scores of every image too");
  command.add_flag("--partial", arguments->partial,
                   "Score the images that have a caption; otherwise images without one are refused");
  arguments->common.add_json(command);
  return [arguments] { return score(*arguments); };
}

}  // namespace stein::cli
