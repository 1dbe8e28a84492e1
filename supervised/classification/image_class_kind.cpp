// `stein classify` of images: what the program needs to know of it.
#include <stein/runs/run_kind.h>
#include <stein/supervised/classification/image_attack.h>
#include <stein/supervised/classification/image_class_prediction.h>
#include <stein/supervised/classification/image_classes.h>
#include <stein/training/classifier_evaluation.h>
#include <stein/training/classifier_report.h>
#include <stein/training/classifier_run.h>
#include <stein/training/compression.h>
#include <stein/training/network_export.h>

namespace stein::supervised {
namespace {

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "image-classes",
     .subcommand = "classify",
     .description = "Train a classifier, over several seeds or folds",
     .unit = "images",
     .directory = "DATA-SAMPLER",
     .arguments = {"data", "test_data", "sampler", "device", "network", "hidden", "dropout", "epochs", "batch_size",
                   "step_size"},
     .compared = "sampler",
     .paired = {"test/error"},
     .recognises = ImageClassExperiment::recognises,
     .data_names = [] { return image_sets().names(); },
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<ImageClassExperiment>(kind, sources); },
     .parts = image_class_parts,
     .log_files = {"samples"},
     .result_files = {"curves.json", "predictions.json", "adversarial.json", "other.json"},
     .readable = training::readable_classifier_summary,
     .report = training::classifier_report(),
     .compressed = training::compression_of,
     .actions = {{"eval", [] { return std::make_unique<training::ClassifierEvaluation>(); }},
                 {"predict", [] { return std::make_unique<ImageClassPrediction>(); }},
                 {"attack", [] { return std::make_unique<ImageAttack>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::supervised
