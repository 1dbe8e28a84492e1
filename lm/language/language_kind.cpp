// `stein lm`: what the program needs to know of language models.
#include <stein/lm/language/language_evaluation.h>
#include <stein/lm/language/language_experiment.h>
#include <stein/lm/language/language_run.h>
#include <stein/lm/language/language_sampling.h>
#include <stein/lm/language/readable_language_summary.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>
#include <stein/training/network_export.h>
#include <stein/training/network_summary.h>

namespace stein::lm {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "language/report.js.inc"
    ;

runs::SummaryColumn perplexity_column(std::string heading, const char* part, const char* which) {
  return {std::move(heading),
          [part, which](const Json& s) { return runs::mean_and_deviation(s[part][which]["perplexity"]); }};
}

/// uncertainty.json with all that the script reads; null where it was not written.
Json uncertainty_of(const runs::RunRecord& record) {
  Json uncertainty = record.json_file("uncertainty.json");
  if (uncertainty.is_null()) return uncertainty;
  for (const char* list : {"tokens", "entropy", "mutual_information", "probability", "samples", "likeliest"})
    static_cast<void>(uncertainty.at("passage").at(list).at(0));
  for (const char* list : {"text", "reversed"}) static_cast<void>(uncertainty.at("gap").at(list).at(0));
  static_cast<void>(uncertainty.at("draws").get<std::int64_t>());
  if (const Json& pruning = uncertainty.at("pruning"); !pruning.is_null())
    static_cast<void>(pruning.at("pattern").at("matrices").at(0).at("per_cent").at(0));
  return uncertainty;
}

runs::ReportLayout report_layout() {
  return {.script = report_script,
          .task = "data",
          .grouped_by = {"tokens", "synthetic"},
          .needs = {"model", "sampler", "parameters", "epochs", "tokens_per_second", "validation", "test"},
          .first_column = "model",
          .columns = {{"protocol", [](const Json& s) { return s["test"]["protocol"].get<std::string>(); }},
                      perplexity_column("validation perplexity", "validation", "averaged"),
                      perplexity_column("test perplexity", "test", "averaged"),
                      perplexity_column("of one sample", "test", "single_sample"),
                      {"samples", [](const Json& s) { return runs::text(s["test"]["samples"], "{:.0f}"); }},
                      {"tokens/s", [](const Json& s) { return runs::text(s["tokens_per_second"], "{:.0f}"); }}},
          .label = training::network_label,
          .curve_parts = [](std::string_view) { return 0; },
          .data =
              [](const runs::RunRecord& record) {
                return Json{{"averages", record.json_file("curves.json")}, {"uncertainty", uncertainty_of(record)}};
              }};
}

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "language",
     .subcommand = "lm train",
     .description = "Train a language model on a text, over several seeds",
     .group_description = "Train, score and sample language models",
     .unit = "tokens",
     .directory = "TEXT-SAMPLER",
     .arguments = {"data", "sampler", "device", "cell", "hidden", "layers", "dropout", "epochs", "batch_size", "unroll",
                   "step_size", "tokens", "protocol"},
     .compared = "sampler",
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<LanguageExperiment>(kind, sources); },
     .parts = language_parts,
     .log_files = {"samples"},
     .result_files = {"vocabulary.txt", "curves.json", "uncertainty.json"},
     .readable = readable_language_summary,
     .report = report_layout(),
     .actions = {{"eval", [] { return std::make_unique<LanguageEvaluation>(); }},
                 {"sample", [] { return std::make_unique<LanguageSampling>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::lm
