// The prior of a precision that is sampled: Gamma, as a density of its logarithm.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/priors/precision_slopes.h>

#include <cmath>

namespace stein::inference {

/// Shape and rate of the gamma law.
struct GammaPriorOptions {
  double gamma_shape = 1;   ///< a₀
  double gamma_rate = 0.1;  ///< b₀

  template <class V>
  void describe(V& v) {
    v("gamma_shape", gamma_shape, "a₀ of the Gamma prior on learned precisions", positive);
    v("gamma_rate", gamma_rate, "b₀, rate of the Gamma prior on learned precisions", positive);
  }
};

/// log of the density of x = log τ where τ ~ Gamma(a₀, rate b₀), the Jacobian of the logarithm included, and its
/// slope: a₀ log b₀ − log Γ(a₀) + a₀ x − b₀ eˣ.
struct LogGamma {
  double value;
  double slope;
};
inline LogGamma log_gamma_prior(const GammaPriorOptions& prior, double log_precision) {
  const double a = prior.gamma_shape, b = prior.gamma_rate, precision = std::exp(log_precision);
  int sign = 0;  // std::lgamma writes it to a variable that all threads share
  return {.value = a * std::log(b) - ::lgamma_r(a, &sign) + a * log_precision - b * precision,
          .slope = log_gamma_slope(a, b, precision)};
}

}  // namespace stein::inference
