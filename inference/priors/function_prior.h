// A Gaussian prior of a perceptron's weights that is stated by the functions it draws, not by the weights.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/models/mlp_spec.h>

#include <map>
#include <string>

namespace stein::inference {

/// How far the functions of the prior spread, and how much of that comes from biases.
struct FunctionPriorOptions {
  double function_deviation = 1;  ///< g
  double bias_share = 0.1;        ///< β

  template <class V>
  void describe(V& v) {
    v("function_deviation", function_deviation,
      "sd of an output under the prior prior_scale=functions, at inputs of mean square 1 a column", positive,
      "scaled reward")
        .in_older_runs("1");
    v("bias_share", bias_share, "share of a unit's prior variance that its bias has, under prior_scale=functions",
      Range{.low = 0, .high = 1, .low_open = true, .high_open = true})
        .in_older_runs("0.1");
  }
};

/// The precisions of all weights and biases, by their names, under which every unit before its activation has variance
/// 1 and every output variance g² (Neal 1996; He et al. 2015 for the gain): weights ~ N(0, (1 − β) a / fan-in), biases
/// ~ N(0, β), both times g² in the last layer. The fan-in of the first layer is the number of ones of a one-hot row, or
/// of its columns where it is dense and they have mean square 1; a = 1 there, and 1/E[act(z)²], z ~ N(0, 1), behind
/// an activation: 2 for ReLU. Variances are exact at one hidden layer, and in the limit of wide ones.
std::map<std::string, double> function_prior(const FunctionPriorOptions& options, const MlpSpec& network);

}  // namespace stein::inference
