// The numbers of a control run: as the object of summary.json, and as lines for a person.
#pragma once

#include <stein/agents/control/control_run.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stein::agents {

/// {count, mean, median, max, per_seed} of the particles' returns [seeds][particles]: each of the three numbers of a
/// seed, measured over seeds.
nlohmann::ordered_json over_particles(const std::vector<std::vector<double>>& returns);

/// What a summary says of `outcomes`, of which there is one a seed. Numbers that do not exist (the deviation of one
/// seed, the time to a threshold that was not reached) are null.
nlohmann::ordered_json summarize_outcomes(const std::vector<ControlOutcome>& outcomes,
                                          const std::vector<ControlTiming>& timing);

/// Whether the policies were evaluated while they learned, without which nobody knows when they reached a threshold;
/// summaries of earlier versions do not say, and count as if they were.
bool was_evaluated(const nlohmann::ordered_json& summary);

/// Steps that a seed has played, in the mean over seeds: whole iterations, so rather more than were asked for.
double steps_of_seed(const nlohmann::ordered_json& summary);

/// The lines that a person sees of the summary of a control run.
std::string readable_control_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::agents
