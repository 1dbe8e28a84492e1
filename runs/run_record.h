// What a run left in its directory, read back for a report.
#pragma once

#include <stein/core/run_directory.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace stein::runs {

struct RunKind;

/// What a report reads of one run directory.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing, which clang-tidy does not see
struct RunRecord {
  const RunKind* kind = nullptr;
  std::filesystem::path directory;  ///< that was read
  std::string task;                 ///< what was played or learned, with the options that tell it apart
  std::string label;                ///< how a report calls it: its method, or its directory where that is ambiguous
  nlohmann::ordered_json summary;   ///< summary.json
  nlohmann::ordered_json manifest;  ///< manifest.json
  std::string config;               ///< config.toml
  /// tag → step → value of every seed that recorded one.
  std::map<std::string, std::map<std::int64_t, std::map<std::uint64_t, double>>> metrics;
  std::map<std::string, std::string> files;  ///< the result files of its kind that are there, as text
  /// Why there is no result, and what to do; empty where there is one. Without it the summary has the task, the seeds
  /// and the largest step of the metrics alone, and there are no files.
  std::string unfinished;

  /// A result file as JSON; null where there is none. Throws Error(data) if it is no JSON.
  nlohmann::ordered_json json_file(const std::string& name) const;
};

/// Reads the run in `directory`. Throws Error(data) if it is unfinished, or if a file of it cannot be understood.
RunRecord read_run(const RunDirectory& directory);

/// The same of a run that has a result, or none yet, or none because it diverged: then with its metrics as far as they
/// were written, called by its directory.
RunRecord read_run_so_far(const RunDirectory& directory);

/// {kind, task, …}: what runs that can be compared are equal in, with the fields of `grouped_by` of their kind; of
/// runs without a result {kind, task, unit, unfinished: true}.
nlohmann::ordered_json group_of(const RunRecord& record);

/// Gives records of different tasks different names of the task, and every record of one task a label of its own. May
/// be called again once there are more records.
void label_apart(std::vector<RunRecord>& records);

}  // namespace stein::runs
