// Going on with a run on disk.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/runs/session.h>

#include <string>
#include <utility>
#include <vector>

namespace stein::runs {

/// Continues the run in `directory`, which is open for writing, from its newest checkpoint; `settings` may lengthen it
/// and, where the kind allows it, name another device, which the manifest notes. A finished run stays as it is: its
/// result is given again. Throws Error(data) where the run cannot go on, Error(usage) where it would be another run,
/// Error(numeric) as `start_run` does.
SessionResult resume_run(const RunDirectory& directory,
                         const std::vector<std::pair<std::string, std::string>>& settings,
                         const SessionOptions& options);

}  // namespace stein::runs
