// What a bandit run came to: the content of summary.json, and the same for a reader at a terminal.
#pragma once

#include <stein/agents/bandits/bandit_run.h>

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_cost.h"

namespace stein::cli {

/// The object of summary.json. `cost` and `timing` are those of all processes that worked on the run. Numbers that do
/// not exist (the deviation of one seed) are null.
nlohmann::ordered_json summarize(const agents::BanditRun& run, const std::string& environment,
                                 const std::string& policy, const RunCost& cost,
                                 const agents::BanditAgent::Timing& timing);

/// A few aligned lines with the same numbers.
std::string readable(const nlohmann::ordered_json& summary);

}  // namespace stein::cli
