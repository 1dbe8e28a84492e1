// What a control run came to: the content of summary.json, and the same for a reader at a terminal.
#pragma once

#include <stein/agents/control/control_run.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "control_experiment.h"
#include "run_cost.h"

namespace stein::cli {

/// The object of summary.json; plays the final evaluation episodes. Numbers that do not exist (the deviation of one
/// seed, the time to a threshold that was not reached) are null.
nlohmann::ordered_json summarize_control(const ControlExperiment& experiment, const agents::ControlRun& run,
                                         const RunCost& cost);

/// A few aligned lines with the same numbers.
std::string readable_control_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::cli
