// `stein classify` of sentences: what the program needs to know of it.
#include <stein/lm/classification/sentence_experiment.h>
#include <stein/lm/classification/sentence_prediction.h>
#include <stein/runs/run_kind.h>
#include <stein/training/classifier_evaluation.h>
#include <stein/training/classifier_report.h>
#include <stein/training/classifier_run.h>
#include <stein/training/compression.h>
#include <stein/training/network_export.h>

namespace stein::lm {
namespace {

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "sentences",
     .subcommand = "classify",
     .description = "Train a classifier, over several seeds or folds",
     .unit = "sentences",
     .directory = "DATA-SAMPLER",
     .arguments = {"data", "sampler", "device", "hidden", "dropout", "epochs", "batch_size", "step_size",
                   "word_vectors"},
     .compared = "sampler",
     .paired = {"test/error"},
     .recognises = SentenceExperiment::recognises,
     .data_names = [] { return sentence_sets().names(); },
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<SentenceExperiment>(kind, sources); },
     .parts = sentence_parts,
     .log_files = {"samples"},
     .result_files = {"curves.json", "predictions.json", "other.json"},
     .readable = training::readable_classifier_summary,
     .report = training::classifier_report(),
     .compressed = training::compression_of,
     .actions = {{"eval", [] { return std::make_unique<training::ClassifierEvaluation>(); }},
                 {"predict", [] { return std::make_unique<SentencePrediction>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::lm
