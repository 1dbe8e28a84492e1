#include <stein/core/error.h>
#include <stein/policies/bandit_policy.h>

#include <fmt/ranges.h>

namespace stein::policies {

envs::Context context_of(const InteractionBatch& batch, std::int64_t i, const envs::BanditSpec& spec) {
  const auto part = [i](auto all, std::int64_t columns) {
    return all.subspan(static_cast<std::size_t>(i * columns), static_cast<std::size_t>(columns));
  };
  return {.dense = part(batch.dense, spec.dense_columns()),
          .active = part(batch.active, spec.active_columns),
          .present = part(batch.actions, 1),
          .arm_features = part(batch.arm_features, spec.arm_features)};
}

Registry<PolicyEntry>& bandit_policies() {
  static Registry<PolicyEntry> registry("policy");
  return registry;
}

void check_on_host(std::string_view policy, inference::Device device) {
  if (device == inference::Device{}) return;
  std::vector<std::string> others;
  for (const auto& [name, entry] : bandit_policies().entries())
    if (entry.on_devices) others.push_back(name);
  fail(ErrorKind::usage,
       "policy '{}' is on the processor only, got device={}: expected one whose networks can be there, one of {}",
       policy, inference::device_name(device), fmt::join(others, ", "));
}

}  // namespace stein::policies
