#include <stein/lm/language/readable_language_summary.h>
#include <stein/runs/measured.h>
#include <stein/training/network_summary.h>
#include <stein/training/predictive_agreement.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

/// Perplexity, and bits of texts of characters.
std::string score_text(const Json& score) {
  std::string text = runs::mean_and_deviation(score["perplexity"]);
  if (!score["bits_per_character"].is_null())
    text += fmt::format("   ({} bits a character)", runs::mean_and_deviation(score["bits_per_character"]));
  return text;
}

std::string part_lines(const Json& summary, const char* part) {
  const Json& scores = summary[part];
  std::string lines = fmt::format("\n  {} ({}, {} tokens), perplexity\n", part, scores["protocol"].get<std::string>(),
                                  scores["tokens"].get<std::int64_t>());
  const auto samples = scores["samples"].get<std::int64_t>();
  if (samples > 1) {
    lines += runs::summary_line("  one sample", score_text(scores["single_sample"]));
    lines += runs::summary_line(fmt::format("  averaged over {}", samples).c_str(), score_text(scores["averaged"]));
  }
  lines += runs::summary_line("  weights at the end", score_text(scores["final_weights"]));
  if (scores.contains("validation_chosen"))
    lines += runs::summary_line("  best by validation", score_text(scores["validation_chosen"]));
  return lines + training::agreement_line(scores);
}

}  // namespace

std::string readable_language_summary(const Json& summary) {
  std::string lines = training::summary_head(summary);
  lines += part_lines(summary, "validation") + part_lines(summary, "test");
  if (summary.contains("truth"))
    lines +=
        "\n" +
        runs::summary_line("truth on the test", runs::text(summary["truth"]["test_loss"], "{:.4f}") + " nats a token") +
        runs::summary_line("excess over it", fmt::format("{:.2f} %", 100 * runs::mean_of(summary["truth"]["excess"])));
  return lines + training::summary_foot(summary, "tokens_per_second", "tokens/s");
}

}  // namespace stein::lm
