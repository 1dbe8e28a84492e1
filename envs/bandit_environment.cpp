#include <stein/envs/bandit_environment.h>

namespace stein::envs {

Registry<BanditEntry>& bandits() {
  static Registry<BanditEntry> registry("environment");
  return registry;
}

void check_arm(const BanditSpec& spec, std::int64_t arm) {
  STEIN_CHECK(arm >= 0 && arm < spec.arms, "an arm of '{}' must lie in [0, {}), got {}", spec.name, spec.arms, arm);
}

}  // namespace stein::envs
