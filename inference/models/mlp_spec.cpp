#include <stein/core/error.h>
#include <stein/inference/models/mlp_spec.h>

namespace stein::inference {

void check(const MlpSpec& spec) {
  const auto sensible = [](std::int64_t width) { return width >= 1 && width <= 10'000'000; };
  STEIN_CHECK(sensible(spec.inputs), "network: inputs must be between 1 and 10000000, got {}", spec.inputs);
  STEIN_CHECK(sensible(spec.outputs), "network: outputs must be between 1 and 10000000, got {}", spec.outputs);
  for (const std::int64_t width : spec.hidden)
    STEIN_CHECK(sensible(width), "network: hidden widths must be between 1 and 10000000, got {}", width);
  STEIN_CHECK(spec.constants >= 0 && spec.constants <= 10'000'000,
              "network: constants must be between 0 and 10000000, got {}", spec.constants);
  STEIN_CHECK(spec.noise_precision > 0, "network: noise precision must be > 0, got {}", spec.noise_precision);
  STEIN_CHECK(!spec.learn_noise_precision || spec.likelihood == Likelihood::gaussian,
              "network: only a Gaussian likelihood has a noise precision to learn");
}

Layout mlp_layout(const MlpSpec& spec, std::int64_t lanes) {
  check(spec);
  Layout layout;
  for (std::int64_t layer = 0; layer < spec.layers(); ++layer) {
    const std::int64_t in = spec.layer_inputs(layer), out = spec.layer_outputs(layer);
    const std::int64_t stride = out < lanes ? out : (out + lanes - 1) / lanes * lanes;
    layout.add(fmt::format("layer{}.weight", layer), {in, out}, Role::weight, layer, stride);
    layout.add(fmt::format("layer{}.bias", layer), {out}, Role::bias, layer, stride);
  }
  if (spec.constants > 0) layout.add("constants", {spec.constants}, Role::bias, spec.layers() - 1);
  if (spec.learn_noise_precision) layout.add("log_noise_precision", {1}, Role::log_precision, spec.layers());
  return layout;
}

}  // namespace stein::inference
