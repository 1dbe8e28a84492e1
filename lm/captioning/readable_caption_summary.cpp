#include <stein/lm/captioning/readable_caption_summary.h>
#include <stein/runs/measured.h>
#include <stein/training/network_summary.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

std::string part_lines(const Json& summary, const char* part) {
  const Json& scores = summary[part];
  std::string lines = fmt::format("\n  {}: {} images, {} captions ({})\n", part, scores["images"].get<std::int64_t>(),
                                  scores["captions"].get<std::int64_t>(), scores["decoding"].get<std::string>());
  const auto samples = scores["caption_samples"].get<std::int64_t>();
  if (samples > 1) {
    lines += readable_caption_scores("  one sample", scores["single_sample"]);
    lines += readable_caption_scores(fmt::format("  averaged over {}", samples), scores["averaged"]);
  }
  lines += readable_caption_scores("  weights at the end", scores["final_weights"]);
  if (scores.contains("validation_chosen"))
    lines += readable_caption_scores("  best by validation", scores["validation_chosen"]);
  return lines + training::agreement_line(scores);
}

}  // namespace

std::string readable_caption_scores(const std::string& name, const Json& scores) {
  std::string text;
  for (const char* metric : {"CIDEr-D", "BLEU-4", "METEOR-exact-stem", "ROUGE-L"})
    text += fmt::format("{} {}, ", metric, runs::text(scores[metric], "{:.3f}"));
  text += "perplexity " + runs::text(scores["perplexity"], "{:.2f}");
  if (scores.contains("exact_truth"))
    text += fmt::format(", true {:.1f} %", 100 * runs::mean_of(scores["exact_truth"]));
  return runs::summary_line(name.c_str(), text);
}

std::string readable_caption_summary(const Json& summary) {
  std::string lines = training::summary_head(summary);
  lines += part_lines(summary, "validation") + part_lines(summary, "test");
  return lines + training::summary_foot(summary, "tokens_per_second", "tokens/s");
}

}  // namespace stein::lm
