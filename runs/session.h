// A run on disk, of any kind: its directory, logs, checkpoints and summary around the repetitions' own loop.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/runs/experiment.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace stein::runs {

/// How a run is carried out; none of it changes its results.
struct SessionOptions {
  std::string data{};           ///< folder with data sets, the only one looked in; empty: the usual places
  std::int64_t stop_after = 0;  ///< stop when every seed has done so many steps; 0: run to the end
  bool quiet = false;           ///< no progress
};

/// What a session ended with.
struct SessionResult {
  bool finished = false;            ///< false: interrupted, and a checkpoint is saved
  nlohmann::ordered_json summary;   ///< the object of summary.json, if finished
  std::filesystem::path directory;  ///< of the run
};

/// Runs `experiment` from its first step in a new directory: `out`, or runs/<name>-<number> if empty.
/// Throws Error(data) where data are missing, Error(usage) for a directory that is taken, Error(numeric) for a run that
/// diverged: its last checkpoint then holds the last finite state.
SessionResult start_run(const Experiment& experiment, const std::filesystem::path& out, Existing existing,
                        const SessionOptions& options);

/// Continues the run in `directory`, which is open for writing, from its newest checkpoint; `settings` may lengthen it.
/// A finished run stays as it is: its result is given again. Throws Error(data) where the run cannot go on,
/// Error(usage) where it would be another run.
SessionResult resume_run(const RunDirectory& directory,
                         const std::vector<std::pair<std::string, std::string>>& settings,
                         const SessionOptions& options);

}  // namespace stein::runs
