#include <fmt/format.h>
#include <stein/runs/report_table.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <utility>

namespace stein::runs {
namespace {

std::string heading_of(const RunRecord& record) {
  const nlohmann::ordered_json& summary = record.summary;
  const std::size_t seeds = summary["seeds"].size();
  const std::string data =
      summary.contains("data") ? fmt::format(" ({} data)", summary["data"].get<std::string>()) : "";
  const auto steps = summary["steps"].get<std::int64_t>();
  return fmt::format("{}{}, {} {}, {} seed{}", record.task, data, steps > 0 ? fmt::to_string(steps) : "all",
                     record.kind->unit, seeds, seeds == 1 ? "" : "s");
}

/// Characters, not bytes: "±" counts once.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? space + text : text + space;
}

using Rows = std::vector<std::vector<std::string>>;

/// The first column is flush left, the others right.
std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) text += "  " + padded(row[k], widths[k], k > 0);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string make_report_table(const std::vector<RunRecord>& records) {
  std::vector<std::pair<std::string, Rows>> groups;
  for (const RunRecord& record : records) {
    const ReportLayout& report = record.kind->report;
    const std::string heading = heading_of(record);
    auto group = std::ranges::find(groups, heading, &std::pair<std::string, Rows>::first);
    if (group == groups.end()) {
      group = groups.emplace(group, heading, Rows{{report.first_column}});
      for (const SummaryColumn& column : report.columns) group->second.front().push_back(column.heading);
    }
    auto& row = group->second.emplace_back(std::vector{record.label});
    for (const SummaryColumn& column : report.columns) row.push_back(column.text(record.summary));
  }
  std::string table;
  for (const auto& [heading, rows] : groups)
    table += fmt::format("{}{}\n\n{}", table.empty() ? "" : "\n", heading, aligned(rows));
  return table;
}

}  // namespace stein::runs
