// `stein classify` of tables: what the program needs to know of it.
#include <stein/runs/run_kind.h>
#include <stein/supervised/classification/table_class_prediction.h>
#include <stein/supervised/classification/table_classes.h>
#include <stein/training/classifier_evaluation.h>
#include <stein/training/classifier_report.h>
#include <stein/training/classifier_run.h>
#include <stein/training/compression.h>
#include <stein/training/network_export.h>

namespace stein::supervised {
namespace {

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "table-classes",
     .subcommand = "classify",
     .description = "Train a classifier, over several seeds or folds",
     .unit = "rows",
     .directory = "DATA-SAMPLER",
     .arguments = {"data", "target", "test_data", "sampler", "device", "hidden", "epochs", "batch_size", "step_size"},
     .compared = "sampler",
     .paired = {"test/error"},
     .recognises = TableClassExperiment::recognises,
     .data_names = [] { return table_names(TargetKind::category); },
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<TableClassExperiment>(kind, sources); },
     .parts = table_class_parts,
     .log_files = {"samples"},
     .result_files = {"curves.json", "predictions.json", "other.json"},
     .readable = training::readable_classifier_summary,
     .report = training::classifier_report(),
     .compressed = training::compression_of,
     .actions = {{"eval", [] { return std::make_unique<training::ClassifierEvaluation>(); }},
                 {"predict", [] { return std::make_unique<TableClassPrediction>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::supervised
