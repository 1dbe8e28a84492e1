// The arguments that start a run of any kind.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.h"
#include "experiment.h"

namespace stein::cli {

/// What `stein bandit` and `stein rl` have in common.
struct ExperimentArguments {
  std::string config, seeds, out;
  std::vector<std::string> settings;
  bool overwrite = false;
  RunOptions run;
  CommonOptions common;

  /// --config, --set, --seeds, --out and what all runs share. @param name  of a run: "ENV-POLICY"
  void add_all(CLI::App& command, const std::string& name);
  /// The file and --set, then `named`, the options that have an argument of their own; empty ones were not given.
  OptionSources sources(const std::vector<std::pair<std::string, std::string>>& named) const;
  /// Runs `experiment` in a new directory, then `finished` with it; returns the exit code of the program.
  int start(const Experiment& experiment, const std::function<void(const RunDirectory&)>& finished = {}) const;
};

}  // namespace stein::cli
