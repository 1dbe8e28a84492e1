// One web page from many runs: self-contained, with Plotly's JavaScript inside, so that it works offline.
#pragma once

#include <stein/runs/run_record.h>

#include <string>
#include <vector>

namespace stein::runs {

/// The whole HTML page. Runs that can be compared stand in one group, in the words and plots of their kind; curves are
/// medians over seeds with quartiles. Throws Error(data) for a result file that is not as it was written, Error(io) if
/// the parts of the page do not lie in share/stein/report beside the folder of the libraries.
std::string make_report_page(const std::vector<RunRecord>& records);

}  // namespace stein::runs
