// What a run must say of itself so that it can be repeated: manifest.json.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace stein {

/// What the caller knows of a run; `to_json` adds what the program knows of itself.
struct RunManifest {
  std::string command;    ///< subcommand: "bandit"
  std::string kind = {};  ///< of the run, where a subcommand starts several kinds; empty: its name is the subcommand's
  std::uint64_t first_seed = 0;  ///< seeds of the run are first_seed … end_seed - 1
  std::uint64_t end_seed = 1;
  int threads = 1;  ///< of every process
  int ranks = 1;    ///< processes that worked on it side by side
  std::string device = "cpu";
  std::map<std::string, std::string> data_checksums = {};  ///< file name → SHA-256; empty if the run read no file
  std::string preset = {};                                 ///< the preset that the settings began with; empty: none
  std::vector<std::string> result_files =
      {};  ///< names of the files that runs of this kind write besides the usual ones
  /// Name and value of every option that the run began with; its configuration may be edited later, this is not.
  std::map<std::string, std::string> settings = {};
  std::string protocol =
      "{}";  ///< JSON object of the caller: protocol names, N, T and what else fixes the meaning of the run
};

/// `manifest` as JSON text, with the version, the commit, and the SIMD target that this machine runs.
/// @throws Error(usage) if `protocol` is no JSON object
std::string to_json(const RunManifest& manifest);

}  // namespace stein
