#include <stein/inference/priors/scale_mixture_prior.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference {
double ScaleMixtureOptions::deviation() const {
  return std::sqrt(wide_share * std::exp(2 * log_wide_deviation) +
                   (1 - wide_share) * std::exp(2 * log_narrow_deviation));
}

template <class Scalar>
ScaleMixturePrior<Scalar>::ScaleMixturePrior(const ScaleMixtureOptions& options, const Layout& weights, Device device)
    : options_(checked(options)), weights_(weights), driver_(weight_driver<Scalar>(device)) {
  STEIN_CHECK(options.log_wide_deviation > options.log_narrow_deviation,
              "the scale mixture needs log_wide_deviation > log_narrow_deviation, got {} and {}",
              options.log_wide_deviation, options.log_narrow_deviation);
  const double log_deviation[2] = {options.log_wide_deviation, options.log_narrow_deviation};
  const double share[2] = {options.wide_share, 1 - options.wide_share};
  for (int k = 0; k < 2; ++k) {
    law_.precision[k] = std::exp(-2 * log_deviation[k]);
    log_share_[k] = std::log(share[k]);
    law_.log_height[k] = log_share_[k] - log_deviation[k] - 0.5 * std::log(2 * std::numbers::pi);
  }
}

template <class Scalar>
double ScaleMixturePrior<Scalar>::add_entry(const LayoutEntry& entry, std::span<const Scalar> values,
                                            std::span<Scalar> gradient, bool with_value) const {
  ScaleMixture law = law_;
  law.centre = entry.centre();
  const auto of = [&](auto numbers, std::int64_t first, std::int64_t count) {
    return numbers.empty() ? numbers : numbers.subspan(first, count);
  };
  double sum = 0;
  double* const asked = with_value ? &sum : nullptr;
  if (options_.mixture_over == MixtureOver::row) {
    const RowMixture rows{law, {log_share_[0], log_share_[1]}, entry.columns(), entry.row_stride};
    driver_.add_row_mixture(rows, of(values, entry.offset, entry.extent()), of(gradient, entry.offset, entry.extent()),
                            asked);
    return sum;
  }
  // Rows without room between them are one long one.
  const bool end_to_end = entry.row_stride == entry.columns();
  const std::int64_t rows = end_to_end ? 1 : entry.rows(), columns = end_to_end ? entry.size() : entry.columns();
  double total = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t first = entry.offset + r * entry.row_stride;
    driver_.add_scale_mixture(law, of(values, first, columns), of(gradient, first, columns), asked);
    total += sum;
  }
  return total;
}

template <class Scalar>
void ScaleMixturePrior<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows,
                                                const Evaluation<Scalar>& wanted) const {
  for (std::int64_t i = 0; i < rows.values.rows; ++i) {
    const std::span<Scalar> gradient = wanted.wants_gradient() ? wanted.gradient.row(i) : std::span<Scalar>();
    double sum = 0;
    for (const LayoutEntry& entry : weights_.entries())
      if (entry.is_weight()) sum += add_entry(entry, rows.values.row(i), gradient, wanted.wants_value());
    if (wanted.wants_value()) wanted.value[i] += sum;
  }
}

template class ScaleMixturePrior<float>;
template class ScaleMixturePrior<double>;

}  // namespace stein::inference
