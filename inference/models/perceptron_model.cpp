#include <stein/core/error.h>
#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/models/perceptron_model.h>
#include <stein/inference/targets/reference_arithmetic.h>

namespace stein::inference {

std::unique_ptr<Model<float>> make_perceptron_model(const MlpSpec& spec, Arithmetic arithmetic, Device device) {
  if (device != Device{}) {
    STEIN_CHECK(arithmetic == Arithmetic::fused,
                "option 'arithmetic': arithmetic=reference is on the processor only, got device={}",
                device_name(device));
    return std::make_unique<DeviceMlp>(spec, device);
  }
  STEIN_CHECK(spec.precision == Precision::single,
              "option 'precision': of perceptrons bfloat16 and tf32 are of a GPU, expected single with device=cpu");
  if (arithmetic == Arithmetic::fused) return std::make_unique<ParticleMlp>(spec);
  return torch_arithmetic().make_perceptron(spec);
}

}  // namespace stein::inference
