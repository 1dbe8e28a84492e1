// `stein caption`: what the program needs to know of captioning models.
#include <stein/lm/captioning/caption_evaluation.h>
#include <stein/lm/captioning/caption_experiment.h>
#include <stein/lm/captioning/caption_run.h>
#include <stein/lm/captioning/image_description.h>
#include <stein/lm/captioning/readable_caption_summary.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/training/network_export.h>
#include <stein/training/network_summary.h>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "captioning/report.js.inc"
    ;

runs::SummaryColumn metric_column(const char* metric, const char* format = "{:.3f}") {
  return {metric, [metric, format](const Json& s) { return runs::text(s["test"]["averaged"][metric], format); }};
}

runs::ReportLayout report_layout() {
  return {
      .script = report_script,
      .task = "data",
      .grouped_by = {"synthetic"},
      .needs = {"model", "sampler", "parameters", "epochs", "tokens_per_second", "validation", "test"},
      .first_column = "model",
      .columns = {metric_column("CIDEr-D"),
                  metric_column("BLEU-4"),
                  metric_column("METEOR-exact-stem"),
                  metric_column("ROUGE-L"),
                  metric_column("perplexity", "{:.2f}"),
                  {"true captions",
                   [](const Json& s) {
                     const Json& scores = s["test"]["averaged"];
                     if (!scores.contains("exact_truth")) return std::string();
                     return fmt::format("{:.1f} %", 100 * runs::mean_of(scores["exact_truth"]));
                   }},
                  {"samples", [](const Json& s) { return runs::text(s["test"]["caption_samples"], "{:.0f}"); }},
                  {"tokens/s", [](const Json& s) { return runs::text(s["tokens_per_second"], "{:.0f}"); }}},
      .label = training::network_label,
      .curve_parts = [](std::string_view) { return 0; },
      .data =
          [](const runs::RunRecord& record) {
            return Json{{"averages", record.json_file("curves.json")}, {"examples", record.json_file("examples.json")}};
          }};
}

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "captioning",
     .subcommand = "caption train",
     .description = "Train a model that describes images, over several seeds",
     .unit = "tokens",
     .directory = "IMAGES-SAMPLER",
     .arguments = {"data", "sampler", "device", "cell", "hidden", "layers", "dropout", "epochs", "batch_size",
                   "step_size", "feature_use", "beam_width"},
     .compared = "sampler",
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<CaptionExperiment>(kind, sources); },
     .parts = caption_parts,
     .log_files = {"samples"},
     .result_files = {"vocabulary.txt", "captions.json", "references.json", "curves.json", "examples.json"},
     .readable = readable_caption_summary,
     .report = report_layout(),
     .actions = {{"eval", [] { return std::make_unique<CaptionEvaluation>(); }},
                 {"predict", [] { return std::make_unique<ImageDescription>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::lm
