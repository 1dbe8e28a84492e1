// The report pages of this room's kinds of runs, as JavaScript: see runs/report/page.js.
#pragma once

#include <string_view>

namespace stein::agents {

/// bandits/report.js and control/report.js.
extern const std::string_view bandit_report_script, control_report_script;

}  // namespace stein::agents
