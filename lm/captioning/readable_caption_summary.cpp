#include <stein/lm/captioning/readable_caption_summary.h>
#include <stein/runs/measured.h>

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
  return lines;
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
  std::string lines = fmt::format("{}, {} on {}: {} weights, {} epochs{}\n", summary["model"].get<std::string>(),
                                  summary["sampler"].get<std::string>(), summary["data"].get<std::string>(),
                                  summary["parameters"].get<std::int64_t>(), summary["epochs"].get<std::int64_t>(),
                                  runs::spread_note(summary["seeds"].size()));
  lines += part_lines(summary, "validation") + part_lines(summary, "test");
  lines += "\n" + runs::summary_line("training", runs::text(summary["tokens_per_second"], "{:.0f}") + " tokens/s");
  lines += runs::summary_line("peak memory", runs::text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  lines += runs::summary_line("wall time", runs::text(summary["wall_seconds"], "{:.1f}") + " s");
  return lines;
}

}  // namespace stein::lm
