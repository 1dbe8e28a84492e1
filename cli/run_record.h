// What a finished run left in its directory, read back for a report.
#pragma once

#include <stein/core/run_directory.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stein::cli {

enum class RunKind { bandit, control };

/// What a report reads of one run directory.
struct RunRecord {
  RunKind kind = RunKind::bandit;
  std::string task;                 ///< what it was played on: its environment, with the options that tell it apart
  std::string label;                ///< how a report calls it: its policy, or its directory where that is ambiguous
  nlohmann::ordered_json summary;   ///< summary.json
  nlohmann::ordered_json manifest;  ///< manifest.json
  std::string config;               ///< config.toml
  /// tag → step → value of every seed that recorded one.
  std::map<std::string, std::map<std::int64_t, std::map<std::uint64_t, double>>> metrics;
  nlohmann::ordered_json posteriors;  ///< posteriors.json: array of {seed, probe, expected_rewards, samples}
  nlohmann::ordered_json visits;      ///< visits.json, see visits.h
  std::string episode;                ///< episode.svg
};

/// Reads the run in `directory`. Throws Error(data) if it is unfinished, or if a file of it cannot be understood.
RunRecord read_run(const RunDirectory& directory);

/// Gives records of different tasks different names of the task, and every record of one task a label of its own.
void label_apart(std::vector<RunRecord>& records);

}  // namespace stein::cli
