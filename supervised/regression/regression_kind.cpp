// `stein regress`: what the program needs to know of it.
#include <stein/runs/run_kind.h>
#include <stein/supervised/regression/regression_evaluation.h>
#include <stein/supervised/regression/regression_experiment.h>
#include <stein/supervised/regression/regression_prediction.h>
#include <stein/supervised/regression/regression_report.h>
#include <stein/supervised/regression/regression_run.h>
#include <stein/training/network_export.h>

namespace stein::supervised {
namespace {

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "regression",
     .subcommand = "regress",
     .description = "Predict a column of numbers of a table from the others, over several splits",
     .unit = "rows",
     .directory = "DATA-SAMPLER",
     .arguments = {"data", "target", "test_data", "sampler", "device", "hidden", "epochs", "batch_size", "step_size"},
     .compared = "sampler",
     .paired = {"rmse", "log_likelihood"},
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<RegressionExperiment>(kind, sources); },
     .parts = regression_parts,
     .log_files = {"samples"},
     .result_files = {"curves.json", "predictions.json"},
     .readable = readable_regression_summary,
     .report = regression_report(),
     .actions = {{"eval", [] { return std::make_unique<RegressionEvaluation>(); }},
                 {"predict", [] { return std::make_unique<RegressionPrediction>(); }},
                 {"export", [] { return std::make_unique<training::NetworkExport>(); }}}});

}  // namespace
}  // namespace stein::supervised
