// The runs of a report side by side, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "run_record.h"

namespace stein::cli {

/// One line a run. Of a bandit: regret with its spread over seeds, regret as a percentage of uniform play, seeds that
/// did worse than uniform play, decisions a second. Of a control task: return with its spread over seeds, mean and best
/// of the particles, seeds that reached the threshold, steps a second.
std::string make_report_table(const std::vector<RunRecord>& records);

}  // namespace stein::cli
