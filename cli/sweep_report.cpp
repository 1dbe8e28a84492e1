#include "sweep_report.h"

#include <stein/core/atomic_file.h>
#include <stein/core/error.h>
#include <stein/core/log.h>
#include <stein/runs/report_page.h>
#include <stein/runs/report_table.h>

#include <cstdio>

namespace stein::cli {

int advance_sweep(const runs::Sweep& sweep, const runs::SessionOptions& options, const CommonOptions& common) {
  if (!sweep.advance(options)) {
    log_info("the sweep is not finished; continue with `stein resume {}`", sweep.directory().string());
    return interrupted;
  }
  const std::vector<runs::RunRecord> records = finished_runs(sweep);
  if (records.empty()) fail(ErrorKind::numeric, "every run of the sweep in '{}' diverged", sweep.directory().string());
  const auto page = sweep.directory() / "report.html";
  write_file_atomically(page, runs::make_report_page(records));
  const std::string text = common.json
                               ? sweep.summary().dump(2) + "\n"
                               : fmt::format("{}\nThe report: {}\n", runs::make_report_table(records), page.string());
  std::fputs(text.c_str(), stdout);
  return records.size() == sweep.size() ? 0 : exit_code(ErrorKind::numeric);
}

std::vector<runs::RunRecord> finished_runs(const runs::Sweep& sweep) {
  std::vector<runs::RunRecord> records;
  for (const auto& path : sweep.runs()) {
    if (runs::Sweep::diverged(path)) {
      log_warning("the run in '{}' diverged: it is in no table", path.string());
    } else {
      records.push_back(runs::read_run(RunDirectory::open(path)));
    }
  }
  runs::label_apart(records);
  return records;
}

}  // namespace stein::cli
