// The runs of a report side by side, for a terminal.
#pragma once

#include <stein/runs/run_record.h>

#include <string>
#include <vector>

namespace stein::runs {

/// One line a run, under the columns of its kind; runs of one kind, task, length and number of seeds stand together.
std::string make_report_table(const std::vector<RunRecord>& records);

/// The same under a `heading` of all, as of a sweep, whose labels say what its runs differ in: where no two of them
/// have task, length and number of seeds in common they stand in one table.
std::string make_report_table(const std::vector<RunRecord>& records, const std::string& heading);

/// A line a pair of runs that can be compared, with the difference and its interval in every field that their kind
/// compares; of more than 30 pairs the first, and how many more there are. Empty where there is no pair.
std::string make_differences_table(const std::vector<RunRecord>& records);

}  // namespace stein::runs
