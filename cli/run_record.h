// What a finished bandit run left in its directory, read back for a report.
#pragma once

#include <stein/core/run_directory.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stein::cli {

/// What a report reads of one run directory.
struct RunRecord {
  std::string bandit;               ///< what it was played on: its environment, with the options that tell it apart
  std::string label;                ///< how a report calls it: its policy, or its directory where that is ambiguous
  nlohmann::ordered_json summary;   ///< summary.json
  nlohmann::ordered_json manifest;  ///< manifest.json
  std::string config;               ///< config.toml
  /// tag → step → values over seeds, in seed order.
  std::map<std::string, std::map<std::int64_t, std::vector<double>>> metrics;
  nlohmann::ordered_json posteriors;  ///< posteriors.json: array of {seed, probe, expected_rewards, samples}
};

/// Reads the run in `directory`. Throws Error(data) if it is unfinished, or if a file of it cannot be understood.
RunRecord read_run(const RunDirectory& directory);

/// Gives records of different bandits different names of the bandit, and every record of one bandit a label of its own.
void label_apart(std::vector<RunRecord>& records);

}  // namespace stein::cli
