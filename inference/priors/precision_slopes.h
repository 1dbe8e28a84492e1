// What the logarithm of a precision gets from what it is the precision of, and from its own law; on the host and on
// devices.
#pragma once

#include <stein/core/host_device.h>

namespace stein::inference {

/// ∂ log Π N(x; 0, 1/λ) / ∂ log λ of n numbers: n/2 − λ/2 Σ x².
STEIN_HOST_DEVICE inline double log_precision_slope(double n, double precision, double sum_of_squares) {
  return 0.5 * n - 0.5 * precision * sum_of_squares;
}

/// ∂ log p(log λ) / ∂ log λ where λ ~ Gamma(a₀, rate b₀): a₀ − b₀ λ.
STEIN_HOST_DEVICE inline double log_gamma_slope(double shape, double rate, double precision) {
  return shape - rate * precision;
}

}  // namespace stein::inference
