// `stein replay`: what the program needs to know of replays.
#include <stein/replay/readable_replay_summary.h>
#include <stein/replay/replay_experiment.h>
#include <stein/replay/replay_prediction.h>
#include <stein/replay/replay_run.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>

namespace stein::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "report.js.inc"
    ;

/// "[1.201, 1.399]"; nothing where an end is not known.
std::string interval_text(const Json& ends) {
  if (ends.is_null() || ends[0].is_null() || ends[1].is_null()) return "";
  return fmt::format("[{:.4g}, {:.4g}]", ends[0].get<double>(), ends[1].get<double>());
}

/// A line a policy.
template <class Of>
std::string of_every_policy(const Json& summary, const Of& of) {
  std::string text;
  for (const Json& policy : summary["policies"]) text += of(policy) + "\n";
  return text;
}

/// A column of a field of every policy, and one of its interval.
runs::SummaryColumn field_of_policies(std::string heading, const char* field) {
  return {std::move(heading), [field](const Json& s) {
            return of_every_policy(s, [&](const Json& policy) { return runs::text(policy[field], "{:.4g}"); });
          }};
}
runs::SummaryColumn interval_of_policies(const char* field) {
  return {"interval", [field](const Json& s) {
            return of_every_policy(s, [&](const Json& policy) { return interval_text(policy.value(field, Json())); });
          }};
}

/// "snips 0.0412 [0.0401, 0.0423], dr refused"; nothing where none were asked for.
std::string estimates_text(const Json& policy) {
  std::string text;
  if (!policy.contains("estimates")) return text;
  for (const auto& [name, estimate] : policy["estimates"].items())
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", name,
                        estimate.contains("refused") ? "refused" : runs::text(estimate["value"], "{:.4g}"),
                        interval_text(estimate["interval"]));
  return text;
}

std::string label_of(const Json& summary) {
  std::string text;
  for (const Json& policy : summary["policies"])
    text += fmt::format("{}{}", text.empty() ? "" : "+", policy["policy"].get<std::string>());
  return text;
}

runs::ReportLayout report_layout() {
  return {.script = report_script,
          .grouped_by = {"env", "log"},
          .needs = {"format", "log", "policies", "differences"},
          .first_column = "policies",
          .columns = {{"events", [](const Json& s) { return runs::text(s["log"]["events"], "{:.0f}"); }},
                      {"policy",
                       [](const Json& s) {
                         return of_every_policy(s, [](const Json& p) { return p["policy"].get<std::string>(); });
                       }},
                      field_of_policies("mean reward", "ctr"),
                      interval_of_policies("interval"),
                      field_of_policies("÷ uniform", "relative"),
                      interval_of_policies("relative_interval"),
                      {"estimates", [](const Json& s) { return of_every_policy(s, estimates_text); }}},
          .label = label_of,
          .curve_parts = [](std::string_view) { return 0; },
          .data =
              [](const runs::RunRecord& record) {
                return Json{{"facts", record.json_file("log.json")}};
              }};
}

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "replay",
     .subcommand = "replay",
     .description = "Evaluate policies on a log of decisions that others made",
     .unit = "events",
     .directory = "FORMAT-POLICIES",
     .arguments = {"log", "format", "policy", "device", "estimators", "window", "strict"},
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<ReplayExperiment>(kind, sources); },
     .parts = replay_parts,
     .log_files = {"service"},
     .result_files = {"log.json"},
     .readable = readable_replay_summary,
     .report = report_layout(),
     .actions = {{"predict", [] { return std::make_unique<ReplayPrediction>(); }}}});

}  // namespace
}  // namespace stein::replay
