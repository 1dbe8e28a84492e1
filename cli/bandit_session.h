// A bandit run on disk: its directory, logs, checkpoints and summary around the agents' own loop.
#pragma once

#include <stein/core/run_directory.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "bandit_experiment.h"
#include "command.h"

namespace stein::cli {

/// Runs `experiment` from its first interaction in a new directory: `out`, or runs/<env>-<policy>-<number> if empty.
/// Returns the exit code of the program: 0, or 75 if it was interrupted and a checkpoint is saved.
/// Throws Error(data) where data are missing, Error(usage) for a directory that is taken, Error(numeric) for a run that
/// diverged: its last checkpoint then holds the last finite state.
int start_bandit_run(const BanditExperiment& experiment, const std::filesystem::path& out, Existing existing,
                     const RunOptions& run_options, const CommonOptions& common);

/// Continues the run in `directory`, which is open for writing, from its newest checkpoint; `settings` may lengthen it.
/// A finished run stays as it is: its result is printed again.
int resume_bandit_run(const RunDirectory& directory, const std::vector<std::pair<std::string, std::string>>& settings,
                      const RunOptions& run_options, const CommonOptions& common);

}  // namespace stein::cli
