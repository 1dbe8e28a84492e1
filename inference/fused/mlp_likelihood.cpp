#include <stein/inference/fused/mlp_likelihood.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference::fused {
namespace {

/// log p and its derivative by the output, for one output of one row.
struct Term {
  double value, derivative, noise_derivative;
};

Term gaussian(double output, double target, double precision, double log_normaliser) {
  const double residual = target - output, square = 0.5 * precision * residual * residual;
  return {log_normaliser - square, precision * residual, 0.5 - square};
}

/// y f − log(1 + e^f), without overflow.
Term bernoulli(double output, double target) {
  const double tail = std::exp(-std::abs(output));
  const double probability = output >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
  return {target * output - std::max(output, 0.0) - std::log1p(tail), target - probability, 0};
}

double categorical(const float* outputs, std::int64_t count, std::int64_t target, double weight, float* gradient) {
  const double top = *std::max_element(outputs, outputs + count);
  double total = 0;
  for (std::int64_t k = 0; k < count; ++k) total += std::exp(outputs[k] - top);
  for (std::int64_t k = 0; k < count; ++k)
    gradient[k] = static_cast<float>(weight * ((k == target ? 1.0 : 0.0) - std::exp(outputs[k] - top) / total));
  return weight * (outputs[target] - top - std::log(total));
}

}  // namespace

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
      sums.value += categorical(output, spec.outputs, static_cast<std::int64_t>(batch.targets(row, 0)), weight, slope);
      continue;
    }
    const std::int64_t begin = batch.outputs.empty() ? 0 : batch.outputs[row];
    const std::int64_t end = batch.outputs.empty() ? spec.outputs : begin + 1;
    for (std::int64_t k = begin; k < end; ++k) {
      const double target = batch.targets(row, k - begin);
      const Term term = spec.likelihood == Likelihood::gaussian
                            ? gaussian(output[k], target, noise_precision, log_normaliser)
                            : bernoulli(output[k], target);
      sums.value += weight * term.value;
      sums.log_noise_precision += weight * term.noise_derivative;
      slope[k] = static_cast<float>(weight * term.derivative);
    }
  }
  return sums;
}

}  // namespace stein::inference::fused
