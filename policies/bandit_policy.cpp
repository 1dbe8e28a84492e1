#include <stein/policies/bandit_policy.h>

namespace stein::policies {

Registry<PolicyEntry>& bandit_policies() {
  static Registry<PolicyEntry> registry("policy");
  return registry;
}

}  // namespace stein::policies
