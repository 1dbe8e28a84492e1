// The log density of an action and its gradient by the outputs of a policy network, one row at a time, written once for
// the loops of ActionDistribution and for kernels.
#pragma once

#include <stein/policies/action_draw.h>

#include <cmath>
#include <cstdint>

namespace stein::policies {

inline constexpr float half_log_two_pi = 0.918938533204672742F;

/// log p of a choice, p ∝ e^l of the `choices` logits l.
STEIN_HOST_DEVICE inline float choice_log_density(StridedNumbers logits, std::int64_t choices, std::int64_t chosen) {
  float top = logits[0];
  for (std::int64_t k = 1; k < choices; ++k) top = top < logits[k] ? logits[k] : top;
  float total = 0;
  for (std::int64_t k = 0; k < choices; ++k) total += std::exp(logits[k] - top);
  return logits[chosen] - top - std::log(total);
}

/// Writes w ∂ log p(chosen)/∂ l + β ∂ H/∂ l, with ∂ log p(a)/∂ l_k = [k = a] − p_k and ∂ H/∂ l_k = −p_k (log p_k + H).
/// @param slopes  [choices], which may not be the logits
STEIN_HOST_DEVICE inline void choice_gradient(StridedNumbers logits, std::int64_t choices, std::int64_t chosen,
                                              float weight, float entropy, float* slopes) {
  float top = logits[0];
  for (std::int64_t k = 1; k < choices; ++k) top = top < logits[k] ? logits[k] : top;
  float total = 0;
  for (std::int64_t k = 0; k < choices; ++k) total += slopes[k] = std::exp(logits[k] - top);
  const float log_total = std::log(total);
  float spread = 0;  // H
  for (std::int64_t k = 0; k < choices; ++k) {
    slopes[k] /= total;
    spread -= slopes[k] * (logits[k] - top - log_total);
  }
  for (std::int64_t k = 0; k < choices; ++k) {
    const float share = slopes[k];
    slopes[k] =
        weight * ((k == chosen ? 1.0F : 0.0F) - share) - entropy * share * (logits[k] - top - log_total + spread);
  }
}

/// −log N(a; μ, σ²) of one number of an action.
STEIN_HOST_DEVICE inline float normal_surprise(float action, float mean, float log_sd) {
  const float z = (action - mean) * std::exp(-log_sd);
  return 0.5F * z * z + log_sd + half_log_two_pi;
}

/// Slopes of w log N(a; μ, σ²) + β H by μ and by log σ.
struct NormalSlopes {
  float mean, log_sd;
};

/// ∂ log N/∂ μ = z/σ, ∂ log N/∂ log σ = z² − 1, ∂ H/∂ log σ = 1. @param inverse  1/σ
STEIN_HOST_DEVICE inline NormalSlopes normal_slopes(float action, float mean, float inverse, float weight,
                                                    float entropy) {
  const float z = (action - mean) * inverse;
  return {weight * z * inverse, weight * (z * z - 1) + entropy};
}

/// The slope of what a bounded log σ is made of: beyond a bound only one that leads back counts.
/// @param own, start  as of bounded_log_deviation
STEIN_HOST_DEVICE inline float inward_slope(float own, float start, float slope) {
  const float log_sd = own + start;
  return (log_sd > highest_log_deviation && slope > 0) || (log_sd < lowest_log_deviation && slope < 0) ? 0.0F : slope;
}

/// The scores of a distribution as data: ActionDistribution::log_density and gradient of one row.
struct ActionScore {
  ActionDraw law;

  /// Numbers of a row of outputs.
  STEIN_HOST_DEVICE std::int64_t outputs() const {
    if (law.choices > 0) return law.choices;
    return law.deviation_moves ? 2 * law.actions : law.actions;
  }
  /// Log sds that all rows share.
  STEIN_HOST_DEVICE std::int64_t constants() const { return law.choices > 0 || law.deviation_moves ? 0 : law.actions; }

  /// log π(a | o) in nats.
  STEIN_HOST_DEVICE float log_density(StridedNumbers outputs, const float* constants, const float* action) const {
    if (law.choices > 0) return choice_log_density(outputs, law.choices, static_cast<std::int64_t>(action[0]));
    float sum = 0;
    for (std::int64_t a = 0; a < law.actions; ++a)
      sum -= normal_surprise(action[a], outputs[a], log_sd(outputs, constants, a));
    return sum;
  }
  /// Writes the gradient of w log π(a | o) + β H(π(· | o)) by the outputs, and where log sds are constants the slopes
  /// by these before they are added up over the rows: inward_slope is of the sum.
  /// @param slopes    [outputs], which may not be `outputs`
  /// @param of_log_sd [constants]
  STEIN_HOST_DEVICE void gradient(StridedNumbers outputs, const float* constants, const float* action, float weight,
                                  float entropy, float* slopes, float* of_log_sd) const {
    if (law.choices > 0)
      return choice_gradient(outputs, law.choices, static_cast<std::int64_t>(action[0]), weight, entropy, slopes);
    for (std::int64_t a = 0; a < law.actions; ++a) {
      const float inverse = std::exp(-log_sd(outputs, constants, a));
      const NormalSlopes found = normal_slopes(action[a], outputs[a], inverse, weight, entropy);
      slopes[a] = found.mean;
      if (law.deviation_moves)
        slopes[law.actions + a] = inward_slope(outputs[law.actions + a], law.start, found.log_sd);
      else
        of_log_sd[a] = found.log_sd;
    }
  }

 private:
  STEIN_HOST_DEVICE float log_sd(StridedNumbers outputs, const float* constants, std::int64_t a) const {
    return bounded_log_deviation(law.deviation_moves ? outputs[law.actions + a] : constants[a], law.start);
  }
};

}  // namespace stein::policies
