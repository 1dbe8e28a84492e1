#include <stein/inference/priors/function_prior.h>

namespace stein::inference {
namespace {

/// 1/E[act(z)²], z ~ N(0, 1). Of tanh it has no closed form: E[tanh(z)²] = 0.3942944904….
double gain(Activation activation) {
  return activation == Activation::relu ? 2 : 1 / 0.3942944904;
}

}  // namespace

std::map<std::string, double> function_prior(const FunctionPriorOptions& options, const MlpSpec& network) {
  std::map<std::string, double> precisions;
  for (std::int64_t layer = 0; layer < network.layers(); ++layer) {
    const bool one_hot = layer == 0 && network.active_inputs > 0, last = layer + 1 == network.layers();
    const auto fan_in = static_cast<double>(one_hot ? network.active_inputs : network.layer_inputs(layer));
    const double share = options.bias_share,
                 variance = last ? options.function_deviation * options.function_deviation : 1;
    const double of_inputs = layer == 0 ? 1 : gain(network.activation);
    precisions[fmt::format("layer{}.weight", layer)] = fan_in / ((1 - share) * of_inputs * variance);
    precisions[fmt::format("layer{}.bias", layer)] = 1 / (share * variance);
  }
  return precisions;
}

}  // namespace stein::inference
