#include "report_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace stein::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string regret_text(const Json& regret) {
  const std::string mean = fmt::format("{:.1f}", regret["mean"].get<double>());
  return regret["sd"].is_null() ? mean : fmt::format("{} ± {:.1f}", mean, regret["sd"].get<double>());
}

}  // namespace

std::string make_report_table(const std::vector<RunRecord>& records) {
  std::size_t width = 6;
  for (const RunRecord& record : records) width = std::max(width, record.label.size());
  std::string table, heading;
  for (const RunRecord& record : records) {
    const Json& summary = record.summary;
    const std::size_t seeds = summary["seeds"].size();
    const std::string group =
        fmt::format("{} ({} data), {} interactions, {} seed{}", record.bandit, summary["data"].get<std::string>(),
                    summary["steps"].get<std::int64_t>(), seeds, seeds == 1 ? "" : "s");
    if (group != heading) {
      table += fmt::format("{}{}\n\n  {:<{}}  {:>18}  {:>12}  {:>18}  {:>13}\n", table.empty() ? "" : "\n", group,
                           "policy", width, "regret, mean ± sd", "% of uniform", "worse than uniform", "decisions/s");
      heading = group;
    }
    const std::string locked =
        summary["policy"] == "uniform"
            ? "-"  // half of its seeds lie above their own expectation
            : fmt::format("{:.0f} of {}", summary["lock_in_share"].get<double>() * static_cast<double>(seeds), seeds);
    table += fmt::format("  {:<{}}  {:>18}  {:>12.1f}  {:>18}  {:>13.0f}\n", record.label, width,
                         regret_text(summary["regret"]), summary["regret_percent_of_uniform"].get<double>(), locked,
                         summary["decisions_per_second"].get<double>());
  }
  return table;
}

}  // namespace stein::cli
