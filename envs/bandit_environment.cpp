#include <stein/envs/bandit_environment.h>

namespace stein::envs {

Registry<BanditEntry>& bandits() {
  static Registry<BanditEntry> registry("environment");
  return registry;
}

}  // namespace stein::envs
