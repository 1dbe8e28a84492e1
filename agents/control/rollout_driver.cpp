#include <stein/agents/control/rollout_driver.h>
#include <stein/core/component.h>
#include <stein/core/error.h>

namespace stein::agents {

Registry<const RolloutDriver*>& rollout_drivers() {
  static Registry<const RolloutDriver*> registry("driver of rollouts");
  return registry;
}

const RolloutDriver& rollout_driver(inference::Device device) {
  using Kind = inference::Device::Kind;
  STEIN_CHECK(device.kind != Kind::host, "rollouts: expected a device other than the host for a driver");
  if (device.kind == Kind::fenced) return *rollout_drivers().at("fenced");
  load_component("agents_cuda");
  return *rollout_drivers().at("cuda");
}

}  // namespace stein::agents
