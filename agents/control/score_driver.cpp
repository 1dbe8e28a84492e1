#include <stein/agents/control/score_driver.h>
#include <stein/core/component.h>
#include <stein/core/error.h>

namespace stein::agents {

Registry<const ScoreDriver*>& score_drivers() {
  static Registry<const ScoreDriver*> registry("driver of scores");
  return registry;
}

const ScoreDriver& score_driver(inference::Device device) {
  using Kind = inference::Device::Kind;
  STEIN_CHECK(device.kind != Kind::host, "scores: expected a device other than the host for a driver");
  if (device.kind == Kind::fenced) return *score_drivers().at("fenced");
  load_component("agents_cuda");
  return *score_drivers().at("cuda");
}

}  // namespace stein::agents
