// What a run has cost so far, over all the processes that worked on it.
#pragma once

#include <stein/distributed/communicator.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace stein::runs {

/// Time and memory of a run. Not part of its checkpoints, whose bytes are the same in every repetition.
struct RunCost {
  double wall_seconds = 0;
  double peak_memory_mb = 0;  ///< of the largest process [10^6 bytes]
  /// What the kind of run counts besides, which knows how to add it up.
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  /// What ranks beside it counted in the meantime, each for repetitions of its own.
  std::vector<nlohmann::ordered_json> counts_beside{};
  /// What it cost the root that ranks shared the steps of its repetition, since this process began; none where it
  /// worked alone.
  std::optional<distributed::SharingCost> sharing{};

  /// Whether anything was counted: whether the run has done more than begin.
  bool has_counts() const;
};

/// Largest resident memory of this process so far [10^6 bytes].
double peak_memory_megabytes();

/// What `path` holds; zeros if there is no such file or no cost in it, for a cost is no reason to stop a run.
RunCost read_run_cost(const std::filesystem::path& path);

/// Throws Error(io).
void write_run_cost(const std::filesystem::path& path, const RunCost& cost);

}  // namespace stein::runs
