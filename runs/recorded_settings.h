// The settings of a run on disk, compared by key with what the program makes of them now.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/core/snapshot.h>
#include <stein/runs/experiment.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace stein::runs {

/// The experiment of the run in `directory`, with `settings` in place of what its file says.
/// Throws Error(data) if the program has no runs of this kind, for an option of the file that is unknown or out of its
/// range, and for one that the file lacks and for which no value of older runs is declared; Error(usage) for
/// `settings`.
std::unique_ptr<Experiment> recorded_experiment(const RunDirectory& directory,
                                                const std::vector<std::pair<std::string, std::string>>& settings = {});

/// Writes the settings that a resumed run must find unchanged: all but those that it may change.
void save_settings(const Experiment& experiment, Snapshot& state);

/// Compares the options of the run with those that `state` was saved with; one that did not exist then counts as the
/// value that is declared for older runs.
/// @throws Error(usage) naming the first option that was changed in the run's file since it began and may not be, or
///         that has no value for older runs
/// @throws Error(data)  where the state is another run's: it has an option that this run does not have, or a value that
///         this run, by its manifest, did not begin with
void check_settings(const Experiment& experiment, const Snapshot& state, const RunDirectory& directory);

}  // namespace stein::runs
