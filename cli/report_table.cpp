#include "report_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "summary_numbers.h"

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string seeds_text(const Json& summary) {
  const std::size_t seeds = summary["seeds"].size();
  return fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
}

std::string group_of(const RunRecord& record) {
  const Json& summary = record.summary;
  const auto steps = summary["steps"].get<std::int64_t>();
  if (record.kind == RunKind::control) return fmt::format("{}, {} steps, {}", record.task, steps, seeds_text(summary));
  return fmt::format("{} ({} data), {} interactions, {}", record.task, summary["data"].get<std::string>(), steps,
                     seeds_text(summary));
}

std::string columns_of(RunKind kind, std::size_t width) {
  if (kind == RunKind::control)
    return fmt::format("  {:<{}}  {:>18}  {:>14}  {:>9}  {:>9}  {:>12}\n", "agent", width, "return, mean ± sd",
                       "particles' mean", "best", "solved", "steps/s");
  return fmt::format("  {:<{}}  {:>18}  {:>12}  {:>18}  {:>13}\n", "policy", width, "regret, mean ± sd", "% of uniform",
                     "worse than uniform", "decisions/s");
}

std::string solved_text(const Json& summary) {
  if (summary["threshold"].is_null()) return "-";
  const Json& steps = summary["steps_to_threshold"];
  const auto solved = std::ranges::count_if(steps, [](const Json& value) { return !value.is_null(); });
  return fmt::format("{} of {}", solved, steps.size());
}

std::string line_of(const RunRecord& record, std::size_t width) {
  const Json& summary = record.summary;
  if (record.kind == RunKind::control) {
    const Json& particles = summary["particles"];
    return fmt::format("  {:<{}}  {:>18}  {:>15}  {:>9}  {:>9}  {:>12.0f}\n", record.label, width,
                       mean_and_deviation(summary["return"]), text(particles["mean"]), text(particles["max"]),
                       solved_text(summary), summary["steps_per_second"].get<double>());
  }
  const std::size_t seeds = summary["seeds"].size();
  const std::string locked =
      summary["policy"] == "uniform"
          ? "-"  // half of its seeds lie above their own expectation
          : fmt::format("{:.0f} of {}", summary["lock_in_share"].get<double>() * static_cast<double>(seeds), seeds);
  return fmt::format("  {:<{}}  {:>18}  {:>12.1f}  {:>18}  {:>13.0f}\n", record.label, width,
                     mean_and_deviation(summary["regret"]), summary["regret_percent_of_uniform"].get<double>(), locked,
                     summary["decisions_per_second"].get<double>());
}

}  // namespace

std::string make_report_table(const std::vector<RunRecord>& records) {
  std::size_t width = 6;
  for (const RunRecord& record : records) width = std::max(width, record.label.size());
  std::string table, heading;
  for (const RunRecord& record : records) {
    const std::string group = group_of(record);
    if (group != heading) {
      table += fmt::format("{}{}\n\n{}", table.empty() ? "" : "\n", group, columns_of(record.kind, width));
      heading = group;
    }
    table += line_of(record, width);
  }
  return table;
}

}  // namespace stein::cli
