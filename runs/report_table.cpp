#include <fmt/format.h>
#include <stein/runs/measured.h>
#include <stein/runs/paired_differences.h>
#include <stein/runs/report_table.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace stein::runs {
namespace {

std::string heading_of(const RunRecord& record) {
  const nlohmann::ordered_json& summary = record.summary;
  const auto seeds = static_cast<std::int64_t>(summary["seeds"].size());
  const bool says_data = summary.contains("data") && record.kind->report.task != "data";
  const std::string data = says_data ? fmt::format(" ({} data)", summary["data"].get<std::string>()) : "";
  const auto steps = summary["steps"].get<std::int64_t>();
  return fmt::format("{}{}, {} {}, {}", record.task, data, steps > 0 ? fmt::to_string(steps) : "all", record.kind->unit,
                     counted(seeds, "seed"));
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

/// Without the columns that have a heading and nothing else.
Rows filled(Rows rows) {
  for (std::size_t k = rows.front().size(); k-- > 1;) {
    const auto empty = [&](const std::vector<std::string>& row) { return row[k].empty(); };
    if (!std::all_of(rows.begin() + 1, rows.end(), empty)) continue;
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return rows;
}

/// The first column is flush left, the others right.
std::string aligned(const Rows& all) {
  const Rows rows = filled(all);
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) text += "  " + padded(row[k], widths[k], k > 0);
    text += '\n';
  }
  return text;
}

Rows rows_of(const ReportLayout& report) {
  Rows rows{{report.first_column}};
  for (const SummaryColumn& column : report.columns) rows.front().push_back(column.heading);
  return rows;
}

/// Under each other what line ends separate.
void add_row(Rows& rows, const RunRecord& record) {
  const std::vector<SummaryColumn>& columns = record.kind->report.columns;
  const std::size_t first = rows.size();
  const auto row = [&](std::size_t line) -> std::vector<std::string>& {
    while (rows.size() <= first + line) rows.emplace_back(columns.size() + 1);
    return rows[first + line];
  };
  row(0)[0] = record.label;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    std::istringstream lines(columns[k].text(record.summary));
    std::string text;
    for (std::size_t line = 0; std::getline(lines, text); ++line) row(line)[k + 1] = text;
  }
}

/// The runs with their headings, those of one heading together, in the order of the first of each.
std::vector<std::pair<std::string, std::vector<const RunRecord*>>> by_heading(const std::vector<RunRecord>& records) {
  std::vector<std::pair<std::string, std::vector<const RunRecord*>>> groups;
  for (const RunRecord& record : records) {
    const std::string heading = heading_of(record);
    auto group = std::ranges::find(groups, heading, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.emplace(group, heading, std::vector<const RunRecord*>());
    group->second.push_back(&record);
  }
  return groups;
}

/// @param first_column  its heading; null: as runs of this kind usually have it
std::string table_of(const std::vector<const RunRecord*>& records, const char* first_column) {
  Rows rows = rows_of(records.front()->kind->report);
  if (first_column != nullptr) rows.front().front() = first_column;
  for (const RunRecord* record : records) add_row(rows, *record);
  return aligned(rows);
}

/// A table for every heading.
std::string tables_of(const std::vector<RunRecord>& records, const char* first_column) {
  std::string tables;
  for (const auto& [heading, of_heading] : by_heading(records))
    tables += fmt::format("{}{}\n\n{}", tables.empty() ? "" : "\n", heading, table_of(of_heading, first_column));
  return tables;
}

/// "-12.3 [-15.1, -9.5]".
std::string with_interval(const PairedDifference& difference) {
  const nlohmann::ordered_json json = difference.to_json();
  const std::string mean = text(json["difference"], "{:.5g}");
  const nlohmann::ordered_json& interval = json["interval"];
  return interval.is_null()
             ? mean
             : fmt::format("{} [{:.5g}, {:.5g}]", mean, interval[0].get<double>(), interval[1].get<double>());
}

}  // namespace

std::string make_differences_table(const std::vector<RunRecord>& records) {
  constexpr std::size_t most_pairs = 30;
  const PairedDifferences differences = paired_differences({records.begin(), records.end()}, most_pairs);
  if (differences.list.empty()) return "";
  const std::vector<std::string>& fields = records.front().kind->paired;
  Rows rows{{"first − second"}};
  rows.front().insert(rows.front().end(), fields.begin(), fields.end());
  for (std::size_t k = 0; k < differences.list.size(); ++k) {
    const PairedDifference& difference = differences.list[k];
    if (k % fields.size() == 0) rows.push_back({fmt::format("{} − {}", difference.first, difference.second)});
    rows.back().push_back(with_interval(difference));
  }
  const std::size_t left_out = differences.left_out;
  const std::string more =
      left_out == 0 ? "" : fmt::format("  and {}\n", counted(static_cast<std::int64_t>(left_out), "more pair"));
  return fmt::format("Differences, paired by seed: the mean over seeds with its 95 % interval\n\n{}{}", aligned(rows),
                     more);
}

std::string make_report_table(const std::vector<RunRecord>& records) {
  return tables_of(records, nullptr);
}

std::string make_report_table(const std::vector<RunRecord>& records, const std::string& heading) {
  constexpr const char* first_column = "run";  // not by what runs of this kind usually differ in
  if (records.empty()) return heading + "\n";
  if (records.size() == 1 || by_heading(records).size() < records.size())
    return fmt::format("{}\n\n{}", heading, tables_of(records, first_column));
  std::vector<const RunRecord*> all;  // a sweep over lengths or tasks
  for (const RunRecord& record : records) all.push_back(&record);
  return fmt::format("{}\n\n{}", heading, table_of(all, first_column));
}

}  // namespace stein::runs
