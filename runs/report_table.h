// The runs of a report side by side, for a terminal.
#pragma once

#include <stein/runs/run_record.h>

#include <string>
#include <vector>

namespace stein::runs {

/// One line a run, under the columns of its kind; runs of one kind, task, length and number of seeds stand together.
std::string make_report_table(const std::vector<RunRecord>& records);

/// One table of runs of one kind, whatever they differ in, under `heading`.
std::string make_report_table(const std::vector<RunRecord>& records, const std::string& heading);

}  // namespace stein::runs
