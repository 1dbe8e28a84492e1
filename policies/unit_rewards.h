// What policies for rewards in [0, 1] ask of a bandit: that of a coin, as clicks are.
#pragma once

#include <stein/envs/bandit_spec.h>

#include <cstdint>
#include <string_view>

namespace stein::policies {

/// Throws Error(usage) naming policy and bandit unless all expected rewards lie in [0, 1].
void check_unit_rewards(std::string_view policy, const envs::BanditSpec& spec);

/// Throws Error(usage) naming policy, arm and bandit unless the reward lies in [0, 1] and the weight is finite and ≥ 0.
void check_unit_reward(std::string_view policy, const envs::BanditSpec& spec, std::int64_t arm, double reward,
                       double weight);

}  // namespace stein::policies
