#include <stein/core/error.h>
#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/targets/reference_arithmetic.h>
#include <stein/supervised/network/perceptron_model.h>

#include <fmt/ranges.h>

namespace stein::supervised {

std::unique_ptr<inference::Model<float>> make_perceptron_model(const inference::MlpSpec& spec,
                                                               inference::Arithmetic arithmetic,
                                                               inference::Device device) {
  if (device != inference::Device{}) {
    STEIN_CHECK(arithmetic == inference::Arithmetic::fused,
                "arithmetic=reference is on the processor only, got device={}", inference::device_name(device));
    return std::make_unique<inference::DeviceMlp>(spec, device);
  }
  STEIN_CHECK(spec.precision == inference::Precision::single,
              "option 'precision': of perceptrons bfloat16 and tf32 are of a GPU, expected single with device=cpu");
  if (arithmetic == inference::Arithmetic::fused) return std::make_unique<inference::ParticleMlp>(spec);
  return inference::torch_arithmetic().make_perceptron(spec);
}

std::string network_name(const inference::MlpSpec& spec) {
  const std::string hidden = spec.hidden.empty() ? "" : fmt::format("{}-", fmt::join(spec.hidden, "-"));
  return fmt::format("mlp {}-{}{}", spec.inputs, hidden, spec.outputs);
}

}  // namespace stein::supervised
