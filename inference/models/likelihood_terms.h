// log p of one row of a network's outputs and its derivative: the arithmetic of the likelihoods, for the loops of the
// host and for kernels.
#pragma once

#include <stein/core/host_device.h>

#include <cmath>
#include <cstdint>

namespace stein::inference {

/// log p and its derivatives, for one output of one row.
struct LikelihoodTerm {
  double value;
  double derivative;        ///< by the output
  double noise_derivative;  ///< by log γ of a Gaussian
};

/// y ~ N(f, 1/γ). @param log_normaliser  ½ log(γ / 2π)
STEIN_HOST_DEVICE inline LikelihoodTerm gaussian_term(double output, double target, double precision,
                                                      double log_normaliser) {
  const double residual = target - output, square = 0.5 * precision * residual * residual;
  return {log_normaliser - square, precision * residual, 0.5 - square};
}

/// y f − log(1 + e^f), without overflow.
STEIN_HOST_DEVICE inline LikelihoodTerm bernoulli_term(double output, double target) {
  const double tail = std::exp(-std::abs(output));
  const double probability = output >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
  return {target * output - (output > 0 ? output : 0.0) - std::log1p(tail), target - probability, 0};
}

/// Weighted log softmax of one class of `count`; its gradient may take the place of the outputs. Both lie `stride`
/// numbers apart.
STEIN_HOST_DEVICE inline double categorical_term(const float* outputs, std::int64_t count, std::int64_t stride,
                                                 std::int64_t target, double weight, float* gradient) {
  double top = outputs[0], total = 0;
  for (std::int64_t k = 1; k < count; ++k) top = outputs[k * stride] > top ? outputs[k * stride] : top;
  for (std::int64_t k = 0; k < count; ++k) total += std::exp(outputs[k * stride] - top);
  const double value = weight * (outputs[target * stride] - top - std::log(total));
  for (std::int64_t k = 0; k < count; ++k)
    gradient[k * stride] =
        static_cast<float>(weight * ((k == target ? 1.0 : 0.0) - std::exp(outputs[k * stride] - top) / total));
  return value;
}

}  // namespace stein::inference
