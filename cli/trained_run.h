// A control run as its newest checkpoint left it, to be looked at.
#pragma once

#include <stein/agents/control/control_run.h>
#include <stein/core/run_directory.h>

#include <cstdint>
#include <memory>
#include <string>

#include "control_experiment.h"

namespace stein::cli {

/// The experiment of a run, and its agents at the newest checkpoint.
struct TrainedRun {
  std::unique_ptr<ControlExperiment> experiment;
  std::unique_ptr<agents::ControlRun> run;

  /// The agent of a seed. Throws Error(usage) for a seed that the run does not have.
  const agents::ControlAgent& agent(std::uint64_t seed) const;
};

/// Throws Error(data) if `directory` holds no control run or no checkpoint of one, or if the task has another version
/// now; Error(usage) if its configuration was changed.
TrainedRun load_trained_run(const RunDirectory& directory);

}  // namespace stein::cli
