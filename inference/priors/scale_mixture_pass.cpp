#include <stein/inference/priors/scale_mixture_pass.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {

template <class Scalar>
double reference::add_scale_mixture(const ScaleMixture& law, std::span<const Scalar> weights,
                                    std::span<Scalar> gradient) {
  double sum = 0;
  for (std::size_t q = 0; q < weights.size(); ++q) {
    const double off = static_cast<double>(weights[q]) - law.centre;
    const double wide = law.log_height[0] - law.precision[0] / 2 * off * off;
    const double narrow = law.log_height[1] - law.precision[1] / 2 * off * off;
    const double e = std::exp(-std::abs(wide - narrow)), larger = 1 / (1 + e), smaller = e / (1 + e);
    sum += std::max(wide, narrow) + std::log1p(e);
    if (gradient.empty()) continue;
    const double pull = wide > narrow ? larger * law.precision[0] + smaller * law.precision[1]
                                      : smaller * law.precision[0] + larger * law.precision[1];
    gradient[q] -= static_cast<Scalar>(pull * off);
  }
  return sum;
}

template <class Scalar>
double reference::add_row_mixture(const RowMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient) {
  const auto columns = static_cast<std::size_t>(law.columns), stride = static_cast<std::size_t>(law.stride);
  double sum = 0;
  for (std::size_t first = 0; first < weights.size(); first += stride) {
    const RowMixtureStep step(law, weights.data() + first);
    sum += step.value;
    if (gradient.empty()) continue;
    for (std::size_t q = first; q < first + columns; ++q)
      gradient[q] -= static_cast<Scalar>(step.pull) * (weights[q] - static_cast<Scalar>(law.law.centre));
  }
  return sum;
}

template double reference::add_scale_mixture(const ScaleMixture&, std::span<const float>, std::span<float>);
template double reference::add_scale_mixture(const ScaleMixture&, std::span<const double>, std::span<double>);
template double reference::add_row_mixture(const RowMixture&, std::span<const float>, std::span<float>);
template double reference::add_row_mixture(const RowMixture&, std::span<const double>, std::span<double>);

}  // namespace stein::inference
