#include "bandit_summary.h"

#include <stein/core/version.h>

#include <nlohmann/json.hpp>

#include "summary_numbers.h"

namespace stein::cli {

using Json = nlohmann::ordered_json;

Json summarize(const agents::BanditRun& run, const std::string& environment, const std::string& policy,
               const RunCost& cost, const agents::BanditAgent::Timing& timing) {
  const agents::BanditResult result = run.result();
  const envs::BanditSpec& spec = run.spec();
  return {{"name", fmt::format("{}/{}", environment, policy)},
          {"env", environment},
          {"policy", policy},
          {"data", spec.data},
          {"source", spec.source},
          {"arm_names", spec.arm_names},
          {"steps", result.steps},
          {"seeds", result.seeds},
          {"regret", over_seeds(result.regret)},
          {"uniform_regret", over_seeds(result.uniform_regret)},
          {"regret_percent_of_uniform", number(result.regret_percent_of_uniform())},
          {"lock_in_share", number(result.lock_in_share())},
          {"reward", over_seeds(result.reward)},
          {"decisions_per_second", number(timing.decisions_per_second())},
          {"updates_per_second", number(timing.updates_per_second())},
          {"peak_memory_mb", cost.peak_memory_mb},
          {"wall_seconds", cost.wall_seconds},
          {"warnings", result.warnings},
          {"version", version()},
          {"commit", commit()}};
}

std::string readable(const Json& summary) {
  const std::size_t seeds = summary["seeds"].size();
  const double locked = summary["lock_in_share"].get<double>() * static_cast<double>(seeds);
  std::string lines = fmt::format("{} on {} ({} data), {} interactions\n\n", summary["policy"].get<std::string>(),
                                  summary["env"].get<std::string>(), summary["data"].get<std::string>(),
                                  summary["steps"].get<std::int64_t>());
  const auto line = [&](const char* name, const std::string& value) { lines += summary_line(name, value); };
  line("regret", mean_and_deviation(summary["regret"]) + spread_note(seeds));
  line("of uniform play", text(summary["regret_percent_of_uniform"]) + " %");
  line("seeds worse than that", fmt::format("{:.0f} of {}", locked, seeds));
  line("reward", mean_and_deviation(summary["reward"]));
  if (summary["decisions_per_second"] > 0) line("decisions a second", text(summary["decisions_per_second"], "{:.0f}"));
  if (summary["updates_per_second"] > 0) line("updates a second", text(summary["updates_per_second"], "{:.0f}"));
  line("peak memory", text(summary["peak_memory_mb"], "{:.0f}") + " MB");
  line("wall time", text(summary["wall_seconds"], "{:.2f}") + " s");
  return lines;
}

}  // namespace stein::cli
