#include <stein/inference/fused/mlp_likelihood.h>
#include <stein/inference/models/likelihood_terms.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference::fused {
LikelihoodSums likelihood_gradient(const MlpSpec& spec, const Batch<float>& batch, std::int64_t first,
                                   std::int64_t count, double noise_precision, const float* outputs,
                                   std::int64_t stride, float* gradient) {
  const double scale = batch.likelihood_scale();
  const double log_normaliser = 0.5 * std::log(noise_precision / (2 * std::numbers::pi));
  LikelihoodSums sums;
  std::fill(gradient, gradient + count * stride, 0.0f);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = first + i;
    const double weight = batch.row_weights.empty() ? scale : scale * batch.row_weights[row];
    const float* const output = outputs + i * stride;
    float* const slope = gradient + i * stride;
    if (spec.likelihood == Likelihood::categorical) {
      sums.value +=
          categorical_term(output, spec.outputs, 1, static_cast<std::int64_t>(batch.targets(row, 0)), weight, slope);
      continue;
    }
    const std::int64_t begin = batch.outputs.empty() ? 0 : batch.outputs[row];
    const std::int64_t end = batch.outputs.empty() ? spec.outputs : begin + 1;
    for (std::int64_t k = begin; k < end; ++k) {
      const double target = batch.targets(row, k - begin);
      const LikelihoodTerm term = spec.likelihood == Likelihood::gaussian
                                      ? gaussian_term(output[k], target, noise_precision, log_normaliser)
                                      : bernoulli_term(output[k], target);
      sums.value += weight * term.value;
      sums.log_noise_precision += weight * term.noise_derivative;
      slope[k] = static_cast<float>(weight * term.derivative);
    }
  }
  return sums;
}

}  // namespace stein::inference::fused
