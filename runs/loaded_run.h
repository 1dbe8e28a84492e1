// A run as its newest checkpoint left it, to be looked at.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/runs/experiment.h>
#include <stein/runs/run.h>

#include <memory>
#include <string>

namespace stein::runs {

/// The experiment of a run, and its repetitions at the newest checkpoint.
struct LoadedRun {
  const RunDirectory& directory;
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<Run> run;
};

/// Reads the run in `directory`, which must outlive the result. Throws Error(data) if there is no checkpoint, or if the
/// run cannot go on with the program as it is; Error(usage) if its configuration was changed.
/// @param data  folder with data sets; empty: the one that the run began with
LoadedRun load_run(const RunDirectory& directory, const std::string& data = "");

}  // namespace stein::runs
