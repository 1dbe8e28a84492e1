// The report pages of this room's kinds of runs, as JavaScript: see runs/report/page.js.
#pragma once

#include <string>
#include <string_view>

namespace stein::agents {

/// The file report.js of a folder of this room: "bandits". Throws Error(usage) where there is none.
std::string report_script(std::string_view folder);

}  // namespace stein::agents
