#include <stein/core/error.h>
#include <stein/envs/bandit_spec.h>

#include <algorithm>

namespace stein::envs {

std::int64_t Context::place_of(std::int64_t arm, const BanditSpec& spec) const {
  check_arm(spec, arm);
  if (present.empty()) return arm;
  const auto found = std::ranges::find(present, static_cast<std::int32_t>(arm));
  STEIN_CHECK(found != present.end(), "arm {} of '{}' is not among the {} that can be chosen", arm, spec.name,
              present.size());
  return found - present.begin();
}

void check_sizes(const BanditSpec& spec, std::int64_t dense, std::int64_t active, std::int64_t arm_features,
                 std::int64_t choices) {
  STEIN_CHECK(dense == spec.dense_columns(), "a context of '{}' has {} numbers, got {}", spec.name,
              spec.dense_columns(), dense);
  STEIN_CHECK(active == spec.active_columns, "a context of '{}' has {} active columns, got {}", spec.name,
              spec.active_columns, active);
  STEIN_CHECK(choices >= 1, "a context of '{}' needs at least one arm", spec.name);
  STEIN_CHECK(arm_features == choices * spec.arm_features,
              "a context of '{}' has {} numbers for each of {} arms, got {} in all", spec.name, spec.arm_features,
              choices, arm_features);
}

void Context::check(const BanditSpec& spec) const {
  check_sizes(spec, std::ssize(dense), std::ssize(active), std::ssize(arm_features), choices(spec));
  for (const std::int32_t column : active)
    STEIN_CHECK(column >= 0 && column < spec.context_size, "a column of '{}' must lie in [0, {}), got {}", spec.name,
                spec.context_size, column);
  for (const std::int32_t arm : present)
    if (arm < 0 || arm >= spec.arms) check_arm(spec, arm);  // without a call for each
}

void check_arm(const BanditSpec& spec, std::int64_t arm) {
  STEIN_CHECK(arm >= 0 && arm < spec.arms, "an arm of '{}' must lie in [0, {}), got {}", spec.name, spec.arms, arm);
}

}  // namespace stein::envs
