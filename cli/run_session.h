// A run on disk, of any kind: its directory, logs, checkpoints and summary around the agents' own loop.
#pragma once

#include <stein/core/run_directory.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "experiment.h"

namespace stein::cli {

/// Runs `experiment` from its first step in a new directory: `out`, or runs/<name>-<number> if empty.
/// Returns the exit code of the program: 0, or 75 if it was interrupted and a checkpoint is saved.
/// Throws Error(data) where data are missing, Error(usage) for a directory that is taken, Error(numeric) for a run that
/// diverged: its last checkpoint then holds the last finite state.
/// @param finished  called once the run has ended and its result is printed
int start_run(const Experiment& experiment, const std::filesystem::path& out, Existing existing,
              const RunOptions& run_options, const CommonOptions& common,
              const std::function<void(const RunDirectory&)>& finished = {});

/// Makes the experiment of a subcommand ("bandit") from the configuration of one of its runs. Null where it has no
/// runs.
using MakeExperiment = std::function<std::unique_ptr<Experiment>(const std::string& command, const OptionSources&)>;

/// Continues the run in `directory`, which is open for writing, from its newest checkpoint; `settings` may lengthen it.
/// A finished run stays as it is: its result is printed again.
int resume_run(const RunDirectory& directory, const MakeExperiment& make_experiment,
               const std::vector<std::pair<std::string, std::string>>& settings, const RunOptions& run_options,
               const CommonOptions& common);

/// Throws Error(usage) naming the first option that is no longer what it was when `state` was saved.
void check_settings(const Experiment& experiment, const Snapshot& state, const RunDirectory& directory);

/// manifest.json of a run. Throws Error(data) if it is no JSON object.
nlohmann::ordered_json read_manifest(const RunDirectory& directory);

}  // namespace stein::cli
