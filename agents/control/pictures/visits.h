// Where the policies of a run go: states that a few particles visit, in two quantities of the task.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <stein/agents/control/control_agent.h>

namespace stein::agents {

/// The object of visits.json: {env, seed, of, x, y, particles: [{particle, return, x, y}]} from sampled episodes of up
/// to sixteen of the particles, `of` in number, of the first seed. The quantities are the first two of the state that
/// are no velocities, or its first two; angles are wrapped to [−π, π).
nlohmann::ordered_json visited_states(const envs::ControlEntry::Builder& environment, const ControlAgent& agent);

}  // namespace stein::agents
