#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/inference/models/mlp_driver.h>

namespace stein::inference {

Registry<const MlpDriver*>& mlp_drivers() {
  static Registry<const MlpDriver*> registry("driver of perceptrons");
  return registry;
}

const MlpDriver& mlp_driver(Device device) {
  STEIN_CHECK(device.kind != Device::Kind::host, "perceptrons: expected a device other than the host for a driver");
  if (device.kind == Device::Kind::fenced) return *mlp_drivers().at("fenced");
  load_component("cuda");
  return *mlp_drivers().at("cuda");
}

}  // namespace stein::inference
