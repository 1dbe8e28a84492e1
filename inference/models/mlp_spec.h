// A multilayer perceptron as data: sizes, activation, likelihood, and the layout of its weights. The fused
// form and its reference are both built from it.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/precision.h>

#include <cstdint>
#include <vector>

namespace stein::inference {

enum class Activation { relu, tanh };

enum class Likelihood {
  gaussian,     ///< y ~ N(f(x), 1/γ), every output its own
  categorical,  ///< class ~ softmax(f(x))
  bernoulli,    ///< y ~ Bernoulli(1/(1 + e^{−f(x)})), every output its own
};

/// x ↦ W_Lᵀ a(… a(W_1ᵀ x + b_1) …) + b_L with weights [inputs, outputs] a layer.
struct MlpSpec {
  std::int64_t inputs = 1;
  std::vector<std::int64_t> hidden{};  ///< widths; empty is a linear model
  std::int64_t outputs = 1;
  Activation activation = Activation::relu;
  Likelihood likelihood = Likelihood::gaussian;
  double noise_precision = 1;  ///< γ of the Gaussian likelihood: its value, or where it starts if it is learned
  /// Parameters beside the outputs that no input moves, for an OutputScore: the log sd of a Gaussian policy.
  std::int64_t constants = 0;
  bool learn_noise_precision = false;  ///< γ = exp(log_noise_precision) is a coordinate, with a prior of its own
  std::int64_t active_inputs = 0;      ///< ones of a row of one-hot inputs, 0: dense; for priors stated by functions
  Precision precision = Precision::single;  ///< of products of matrices; others in a large `DeviceMlp` only

  std::int64_t layers() const { return static_cast<std::int64_t>(hidden.size()) + 1; }
  std::int64_t layer_inputs(std::int64_t layer) const { return layer == 0 ? inputs : hidden[layer - 1]; }
  std::int64_t layer_outputs(std::int64_t layer) const { return layer == layers() - 1 ? outputs : hidden[layer]; }
};

/// Throws Error(usage) naming the field that makes no sense.
void check(const MlpSpec& spec);

/// `layer0.weight` [inputs, outputs], `layer0.bias` [outputs], `layer1.weight` …, `constants` if there are any, a bias
/// of the last layer, and `log_noise_precision` [1] if it is learned. Rows of weights start `lanes` numbers apart or a
/// multiple of it where a layer has at least `lanes` outputs (1: no padding).
Layout mlp_layout(const MlpSpec& spec, std::int64_t lanes = 1);

}  // namespace stein::inference
