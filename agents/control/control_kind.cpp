// `stein rl`: what the program needs to know of control runs.
#include <stein/agents/control/control_evaluation.h>
#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/control_export.h>
#include <stein/agents/control/control_prediction.h>
#include <stein/agents/control/control_rendering.h>
#include <stein/agents/control/control_summary.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>

#include <algorithm>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "control/report.js.inc"
    ;

/// "1 of 2" seeds had an evaluation at the threshold or above, whatever they play at the end; without evaluations
/// while they learned nobody knows.
std::string reached_text(const Json& summary) {
  if (summary["threshold"].is_null()) return "-";
  if (!was_evaluated(summary)) return "not evaluated";
  const Json& measured = summary["steps_to_threshold"];
  const Json& steps = measured.is_object() ? measured["per_seed"] : measured;
  const auto reached = std::ranges::count_if(steps, [](const Json& value) { return !value.is_null(); });
  return fmt::format("{} of {}", reached, steps.size());
}

std::string label_of(const Json& summary) {
  const std::string posterior = summary["posterior"].get<std::string>();
  return summary["agent"].get<std::string>() + (posterior == "none" ? "" : "-" + posterior);
}

/// Where the policies go, and a moving picture of one episode.
Json pictures(const runs::RunRecord& record) {
  const auto episode = record.files.find("episode.svg");
  return {{"visits", record.json_file("visits.json")},
          {"episode", episode == record.files.end() ? "" : episode->second}};
}

runs::ReportLayout report_layout() {
  using runs::text;
  return {.script = report_script,
          .grouped_by = {"env", "env_version", "source"},
          .needs = {"agent", "posterior", "return", "return_sampled", "particles", "threshold", "steps_to_threshold",
                    "steps_per_second", "env_steps"},
          .first_column = "agent",
          .columns = {{"return, mean ± sd", [](const Json& s) { return runs::mean_and_deviation(s["return"]); }},
                      {"particles' mean", [](const Json& s) { return text(s["particles"]["mean"]); }},
                      {"best", [](const Json& s) { return text(s["particles"]["max"]); }},
                      {"reached threshold", reached_text},
                      {"steps", [](const Json& s) { return fmt::format("{:.0f}", steps_of_seed(s)); }},
                      {"steps/s", [](const Json& s) { return text(s["steps_per_second"], "{:.0f}"); }}},
          .label = label_of,
          .curve_parts = [](std::string_view) { return 120; },
          .data = pictures};
}

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "rl",
     .subcommand = "rl",
     .description = "Let an agent learn a control task, over several seeds",
     .unit = "steps",
     .directory = "ENV-AGENT-POSTERIOR",
     .arguments = {"env", "agent", "posterior", "device"},
     .paired = {"return"},
     .with_length = {"decay_steps"},
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<ControlExperiment>(kind, sources); },
     .parts = control_parts,
     .result_files = {"visits.json", "episode.svg"},
     .readable = readable_control_summary,
     .report = report_layout(),
     .actions = {{"eval", [] { return std::make_unique<ControlEvaluation>(); }},
                 {"export", [] { return std::make_unique<ControlExport>(); }},
                 {"predict", [] { return std::make_unique<ControlPrediction>(); }},
                 {"render", [] { return std::make_unique<ControlRendering>(); }}}});

}  // namespace
}  // namespace stein::agents
