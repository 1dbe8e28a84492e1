// `stein bandit`: what the program needs to know of bandit runs.
#include <stein/agents/bandits/bandit_evaluation.h>
#include <stein/agents/bandits/bandit_experiment.h>
#include <stein/agents/bandits/bandit_prediction.h>
#include <stein/agents/bandits/bandit_run.h>
#include <stein/runs/measured.h>
#include <stein/runs/run_kind.h>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* report_script =
#include "bandits/report.js.inc"
    ;

std::string locked_text(const Json& summary) {
  if (summary["policy"] == "uniform") return "-";  // half of its seeds lie above their own expectation
  const std::size_t seeds = summary["seeds"].size();
  return fmt::format("{:.0f} of {}", runs::mean_of(summary["lock_in_share"]) * static_cast<double>(seeds), seeds);
}

/// The posterior rewards of every probe, of the first seed: {seed, expected_rewards, arms: one list of samples an arm}.
/// The seeds' posteriors are different ones: together they would show the spread between seeds as that of a posterior.
Json first_posteriors(const runs::RunRecord& record) {
  const Json posteriors = record.json_file("posteriors.json");
  Json first = Json::object();
  for (const Json& entry : posteriors) {
    if (entry["seed"] != posteriors[0]["seed"]) continue;
    Json arms = Json::array();
    for (const Json& sample : entry["samples"])
      for (std::size_t arm = 0; arm < sample.size(); ++arm)
        arms[arm].push_back(runs::rounded(sample[arm].get<double>()));
    first[entry["probe"].get<std::string>()] = {
        {"seed", entry["seed"]}, {"expected_rewards", entry["expected_rewards"]}, {"arms", arms}};
  }
  return {{"posteriors", first}};
}

runs::ReportLayout report_layout() {
  using runs::SummaryColumn, runs::text;
  return {.script = report_script,
          .grouped_by = {"steps", "env", "data", "source", "arm_names"},
          .needs = {"policy", "data", "regret", "uniform_regret", "regret_percent_of_uniform", "lock_in_share",
                    "decisions_per_second"},
          .first_column = "policy",
          .columns = {{"regret, mean ± sd", [](const Json& s) { return runs::mean_and_deviation(s["regret"]); }},
                      {"% of uniform", [](const Json& s) { return text(s["regret_percent_of_uniform"]); }},
                      {"worse than uniform", locked_text},
                      {"decisions/s", decision_rate}},
          .label = [](const Json& summary) { return summary["policy"].get<std::string>(); },
          // Propensities of single interactions jump about; their means over sixtieths of the run can be read.
          .curve_parts = [](std::string_view tag) { return tag == "propensity_entropy" ? 60 : 0; },
          .data = first_posteriors};
}

[[maybe_unused]] const bool registered = runs::register_run_kind(
    {.name = "bandit",
     .subcommand = "bandit",
     .description = "Let a policy learn a contextual bandit, over several seeds",
     .unit = "interactions",
     .directory = "ENV-POLICY",
     .arguments = {"env", "policy", "device", "log_decisions"},
     .compared = "policy",
     .paired = {"regret", "reward"},
     .reads_data = true,
     .make = [](const runs::RunKind& kind,
                const runs::OptionSources& sources) { return std::make_unique<BanditExperiment>(kind, sources); },
     .parts = bandit_parts,
     .log_files = {"decisions.jsonl", "service"},
     .result_files = {"posteriors.json"},
     .readable = readable_bandit_summary,
     .report = report_layout(),
     .actions = {{"eval", [] { return std::make_unique<BanditEvaluation>(); }},
                 {"predict", [] { return std::make_unique<BanditPrediction>(); }}}});

}  // namespace
}  // namespace stein::agents
