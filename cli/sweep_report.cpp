#include "sweep_report.h"

#include <fmt/ranges.h>
#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/runs/measured.h>
#include <stein/runs/paired_differences.h>
#include <stein/runs/report_page.h>
#include <stein/runs/report_table.h>
#include <stein/runs/run_kind.h>

#include <algorithm>
#include <cstdio>

namespace stein::cli {
namespace {

/// With the `differences` of all pairs of runs, where their kind compares some.
nlohmann::ordered_json summary_of(const runs::Sweep& sweep, const std::vector<runs::RunRecord>& records) {
  constexpr std::size_t most_pairs = 10'000;
  nlohmann::ordered_json summary = sweep.summary();
  if (records.front().kind->paired.empty()) return summary;
  const runs::PairedDifferences differences = runs::paired_differences({records.begin(), records.end()}, most_pairs);
  if (differences.left_out > 0)
    log_warning("`differences` has the first {} pairs of runs, without {} more", most_pairs, differences.left_out);
  summary["differences"] = nlohmann::ordered_json::array();
  for (const runs::PairedDifference& difference : differences.list)
    summary["differences"].push_back(difference.to_json());
  return summary;
}

}  // namespace

int advance_sweep(const runs::Sweep& sweep, const runs::SessionOptions& options, const CommonOptions& common) {
  if (!sweep.advance(options)) {
    log_info("the sweep is not finished; continue with `stein resume {}`", sweep.directory().string());
    return interrupted;
  }
  if (!options.ranks->is_root()) return 0;
  std::vector<runs::RunRecord> records = runs_so_far(sweep);
  std::erase_if(records, [](const runs::RunRecord& record) {
    if (!record.unfinished.empty()) log_warning("{}: it is in no table", record.unfinished);
    return !record.unfinished.empty();
  });
  if (records.empty()) fail(ErrorKind::numeric, "every run of the sweep in '{}' diverged", sweep.directory().string());
  runs::label_apart(records);
  const std::filesystem::path page = sweep.page();
  write_file_atomically(page, runs::make_report_page(records));
  const std::string text = common.json
                               ? summary_of(sweep, records).dump(2) + "\n"
                               : fmt::format("{}\nThe report: {}\n", table_of_sweep(sweep, records), page.string());
  std::fputs(text.c_str(), stdout);
  if (std::ranges::any_of(sweep.runs(), runs::Sweep::diverged)) return exit_code(ErrorKind::numeric);
  return records.size() == sweep.size() ? 0 : exit_code(ErrorKind::io);  // one was removed meanwhile
}

std::vector<runs::RunRecord> runs_so_far(const runs::Sweep& sweep) {
  std::vector<runs::RunRecord> records;
  std::vector<std::string> missing;
  const std::vector<std::filesystem::path> paths = sweep.runs();
  const std::vector<std::string> labels = sweep.labels();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!RunDirectory::is_in(paths[i])) {
      missing.push_back(paths[i].filename().string());
      continue;
    }
    records.push_back(runs::read_run_so_far(RunDirectory::open(paths[i])));
    records.back().label = labels[i];
  }
  if (records.empty())
    fail(ErrorKind::data, "no run of the sweep in '{0}' has begun: `stein resume {0}` begins them",
         sweep.directory().string());
  if (!missing.empty())
    log_warning("{} of {} runs have not begun, or were removed: {}", missing.size(), paths.size(), runs::few(missing));
  return records;
}

std::string table_of_sweep(const runs::Sweep& sweep, const std::vector<runs::RunRecord>& records) {
  std::vector<std::string> keys;
  for (const runs::SweepAxis& axis : sweep.axes()) keys.push_back(axis.key);
  const std::string heading = fmt::format("{}, {} of {} runs, over {}", sweep.directory().filename().string(),
                                          records.size(), sweep.size(), fmt::join(keys, " and "));
  const std::string differences = runs::make_differences_table(records);
  return runs::make_report_table(records, heading) + (differences.empty() ? "" : "\n" + differences);
}

}  // namespace stein::cli
