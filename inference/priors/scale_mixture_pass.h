// The arithmetic of a mixture of two Gaussians over many weights, as one would write it down. Any precision; the float
// kernel in fused/scale_mixture_pass.h is held to it by tests/inference/fused/scale_mixture_pass_test.cpp.
#pragma once

#include <stein/core/host_device.h>

#include <cmath>
#include <cstdint>
#include <span>

namespace stein::inference {

/// p(w) = Σ_k share_k N(w; centre, 1/precision_k), the wide component first.
struct ScaleMixture {
  double centre = 0;
  double precision[2];   ///< 1/σ², precision[0] < precision[1]
  double log_height[2];  ///< log (share / (σ √(2π)))
};

/// The same where one draw of the component decides for a whole row: rows of `columns` weights, `stride` apart.
struct RowMixture {
  ScaleMixture law;
  double log_share[2];
  std::int64_t columns, stride;
};

/// What a mixture says of a row.
struct RowMixtureStep {
  double value;  ///< log p of the row
  double pull;   ///< its gradient is −pull (w − centre)

  template <class Scalar>
  STEIN_HOST_DEVICE RowMixtureStep(const RowMixture& rows, const Scalar* row) {
    double square = 0, log_density[2];
    for (std::int64_t j = 0; j < rows.columns; ++j) {
      const double off = static_cast<double>(row[j]) - rows.law.centre;
      square += off * off;
    }
    for (int k = 0; k < 2; ++k)
      log_density[k] = rows.log_share[k] +
                       static_cast<double>(rows.columns) * (rows.law.log_height[k] - rows.log_share[k]) -
                       rows.law.precision[k] * square / 2;
    // log (e^a + e^b), and the probability of the wide component.
    const double difference = log_density[1] - log_density[0], e = std::exp(-std::abs(difference));
    const double wide = difference > 0 ? e / (1 + e) : 1 / (1 + e);
    value = (difference > 0 ? log_density[1] : log_density[0]) + std::log1p(e);
    pull = wide * rows.law.precision[0] + (1 - wide) * rows.law.precision[1];
  }
};

namespace reference {

/// Adds the gradient of Σ log p(w), unless `gradient` is empty; returns the sum. Of w with p̂ₖ = shareₖ N(w) / p(w):
///   ∇ log p(w) = −(p̂₀ precision₀ + p̂₁ precision₁)(w − centre)
template <class Scalar>
double add_scale_mixture(const ScaleMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient);

/// The same for rows that have one component each.
template <class Scalar>
double add_row_mixture(const RowMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient);

}  // namespace reference
}  // namespace stein::inference
