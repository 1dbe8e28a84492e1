// The perceptron of a run on a table, as options.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/precision_option.h>

namespace stein::supervised {

/// Hidden layers and their activation; inputs and outputs are the table's affair.
struct PerceptronOptions {
  inference::MlpSpec spec{.hidden = {50}};

  template <class V>
  void describe(V& v) {
    v("hidden", spec.hidden, "widths of the hidden layers; none: a linear model", between(1, 1e5));
    v("activation", spec.activation, "of the hidden layers",
      {{"relu", inference::Activation::relu}, {"tanh", inference::Activation::tanh}});
    inference::describe_precision(v, spec.precision,
                                  "products of matrices in float; of a network too large for a block of threads of a "
                                  "GPU with both factors rounded to bfloat16 or tf32 there");
  }
  /// The same with the noise of a Gaussian likelihood.
  template <class V>
  void describe_with_noise(V& v) {
    describe(v);
    v("noise_precision", spec.noise_precision, "γ of the Gaussian likelihood (where it starts if learned)", positive,
      "1 / variance of the training targets");
    v("learn_noise_precision", spec.learn_noise_precision, "sample log γ with the weights");
  }
};

}  // namespace stein::supervised
