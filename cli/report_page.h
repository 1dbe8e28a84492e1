// One web page from many runs: self-contained, with Plotly's JavaScript inside, so that it works offline.
#pragma once

#include <string>
#include <vector>

#include "run_record.h"

namespace stein::cli {

/// The whole HTML page. Runs are grouped by bandit and number of interactions, or by control task; curves are medians
/// over seeds with quartiles. Throws Error(io) if the parts of the page do not lie beside the program.
std::string make_report_page(const std::vector<RunRecord>& records);

}  // namespace stein::cli
