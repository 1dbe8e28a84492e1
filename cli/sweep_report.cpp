#include "sweep_report.h"

#include <stein/core/atomic_file.h>
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
  std::vector<runs::RunRecord> records;
  for (const auto& path : sweep.runs()) records.push_back(runs::read_run(RunDirectory::open(path)));
  runs::label_apart(records);
  const auto page = sweep.directory() / "report.html";
  write_file_atomically(page, runs::make_report_page(records));
  const std::string text = common.json
                               ? sweep.summary().dump(2) + "\n"
                               : fmt::format("{}\nThe report: {}\n", runs::make_report_table(records), page.string());
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace stein::cli
