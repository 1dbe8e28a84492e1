// An interaction as a line of the decision log: every choice of every repetition with the propensities it was made
// with.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>

#include <cstdint>
#include <string>

namespace stein::agents {

/// JSON with the keys seed, step, row, action, reward, expected_rewards, propensities, deterministic; numbers in the
/// shortest form that reads back to the same double.
std::string decision_line(std::uint64_t seed, const Interaction& interaction);

}  // namespace stein::agents
