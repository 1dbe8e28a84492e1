#include <stein/core/error.h>
#include <stein/policies/unit_rewards.h>

#include <cmath>

namespace stein::policies {

void check_unit_rewards(std::string_view policy, const envs::BanditSpec& spec) {
  STEIN_CHECK(spec.reward_low >= 0 && spec.reward_high <= 1,
              "policy '{}' needs rewards in [0, 1], those of {} average from {} to {}", policy, spec.name,
              spec.reward_low, spec.reward_high);
}

void check_unit_reward(std::string_view policy, const envs::BanditSpec& spec, std::int64_t arm, double reward,
                       double weight) {
  STEIN_CHECK(reward >= 0 && reward <= 1, "policy '{}' needs rewards in [0, 1], arm {} of {} paid {}", policy, arm,
              spec.name, reward);
  STEIN_CHECK(std::isfinite(weight) && weight >= 0, "a weight must be finite and at least 0, got {}", weight);
}

}  // namespace stein::policies
