// A run on disk, of any kind: its directory, logs, checkpoints and summary around the repetitions' own loop.
#pragma once

#include <stein/core/run_directory.h>
#include <stein/core/stop_token.h>
#include <stein/distributed/communicator.h>
#include <stein/runs/experiment.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace stein::runs {

/// How a run is carried out; none of it changes its results.
struct SessionOptions {
  std::string data{};           ///< folder with data sets, the only one looked in; empty: the usual places
  std::int64_t stop_after = 0;  ///< stop when every seed has done so many steps; 0: run to the end
  bool quiet = false;           ///< no progress
  StopToken stop{};             ///< asks to stop at the next place where a checkpoint holds all that was done
  /// That the repetitions are spread over; the root writes the run directory, which all of them see. What begins, goes
  /// on or ends a run is then a collective call, with the same arguments on all ranks.
  std::shared_ptr<distributed::Communicator> ranks = std::make_shared<distributed::SingleProcess>();
};

/// What a session ended with.
struct SessionResult {
  bool finished = false;            ///< false: stopped before the result was there, and a checkpoint is saved
  nlohmann::ordered_json summary;   ///< the object of summary.json, if finished, on the root
  std::filesystem::path directory;  ///< of the run
};

/// Goes on with `run` in `directory`, which is open for writing, until it has its result or is asked to stop.
/// @param resumed_at  the next step where earlier processes worked on the run; nothing where it begins
/// Throws Error(numeric) for a run that diverged: its last checkpoint then holds the last finite state.
SessionResult go_on(const Experiment& experiment, Run& run, const RunDirectory& directory,
                    std::optional<std::uint64_t> resumed_at, const SessionOptions& options);

}  // namespace stein::runs
