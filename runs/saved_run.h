// A run on disk at its newest checkpoint, of which nothing was made yet.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/core/snapshot.h>
#include <stein/runs/experiment.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace stein::runs {

/// What a run was told, and what it had come to.
struct SavedRun {
  const RunDirectory& directory;
  nlohmann::ordered_json manifest;
  std::unique_ptr<Experiment> experiment;
  Snapshot state;  ///< as Run::save wrote it

  /// What the repetition with this seed saved.
  Snapshot repetition(std::uint64_t seed) const;
  /// The run as it was then, with its data. @param data  folder with data sets; empty: the one that the run began with
  /// @throws Error(data) if data are missing or changed, or if the run cannot go on with the program as it is
  std::unique_ptr<Run> make_run(const std::string& data = "") const;
};

/// After how many steps the run of a summary ended; of its repetitions the fewest.
double steps_of(const nlohmann::ordered_json& summary);

/// Reads the run in `directory`, which must outlive the result, but none of its data; of one that is not finished a
/// warning says so. Throws Error(data) if there is no checkpoint, or if the newest ones of a finished run are missing
/// or damaged; Error(usage) if its configuration was changed.
SavedRun read_saved_run(const RunDirectory& directory);

}  // namespace stein::runs
