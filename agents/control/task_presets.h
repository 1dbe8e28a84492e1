// Settings of agents that others have tuned for single tasks and published.
#pragma once

#include <stein/core/options.h>

#include <string>
#include <vector>

namespace stein::agents {

/// Presets of a task and an agent.
///
/// `zoo` is their entry in RL Baselines3 Zoo (Raffin 2020; hyperparams/ppo.yml and a2c.yml), as far as Stein's agents
/// have what it sets: state-dependent exploration and a clip ratio that decays they do not have, and value losses have
/// an optimizer of their own here, so that their weight in a common loss says nothing. `tuned` was chosen with this
/// program, for a task on which the defaults do not reach what can be reached. Empty where there is neither.
std::vector<Preset> task_presets(const std::string& environment, const std::string& agent);

}  // namespace stein::agents
