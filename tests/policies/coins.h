// A bandit without context whose arms pay 1 or 0, for tests of policies.
#pragma once

#include <stein/core/rng.h>
#include <stein/policies/bandit_policy.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stein::test {

/// Sum over `steps` decisions of the best arm's chance to pay less that of the arm that was chosen. Rewards are a
/// function of seed, step and arm.
inline double regret_of_coins(policies::BanditPolicy& policy, const std::vector<double>& chances, std::uint64_t seed,
                              std::int64_t steps) {
  const double best = *std::ranges::max_element(chances);
  double regret = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t arm = policy.decide({}, step, policies::Propensities::none).action;
    const double chance = chances[static_cast<std::size_t>(arm)];
    Draws draws({seed, static_cast<std::uint64_t>(step), Stream::reward}, static_cast<std::uint32_t>(arm));
    policy.observe({}, {.action = arm, .reward = draws.uniform() < chance ? 1.0 : 0.0});
    regret += best - chance;
  }
  return regret;
}

}  // namespace stein::test
