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
  STEIN_CHECK(device.kind == Device::Kind::host || options.mixture_over == MixtureOver::weight,
              "mixture_over=row is on the host only, got device {}", device_name(device));
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
double ScaleMixturePrior<Scalar>::add_together(std::span<const Scalar> values, std::span<Scalar> gradient,
                                               double centre) const {
  double square = 0;
  for (const Scalar value : values) square += std::pow(static_cast<double>(value) - centre, 2);
  const auto n = static_cast<double>(values.size());
  double log_density[2];
  for (int k = 0; k < 2; ++k)
    log_density[k] = log_share_[k] + n * (law_.log_height[k] - log_share_[k]) - law_.precision[k] * square / 2;
  // log (e^a + e^b), and the probability of the wide component.
  const double difference = log_density[1] - log_density[0];
  const double wide =
      difference > 0 ? std::exp(-difference) / (1 + std::exp(-difference)) : 1 / (1 + std::exp(difference));
  const double larger = std::max(log_density[0], log_density[1]);
  const auto pull = static_cast<Scalar>(wide * law_.precision[0] + (1 - wide) * law_.precision[1]);
  for (std::size_t q = 0; q < gradient.size(); ++q) gradient[q] -= pull * (values[q] - static_cast<Scalar>(centre));
  return larger + std::log1p(std::exp(-std::abs(difference)));
}

template <class Scalar>
double ScaleMixturePrior<Scalar>::add_entry(const LayoutEntry& entry, std::span<const Scalar> values,
                                            std::span<Scalar> gradient, bool with_value) const {
  ScaleMixture law = law_;
  law.centre = entry.centre();
  const bool by_row = options_.mixture_over == MixtureOver::row;
  // Rows without room between them are one long one.
  const bool end_to_end = !by_row && entry.row_stride == entry.columns();
  const std::int64_t rows = end_to_end ? 1 : entry.rows(), columns = end_to_end ? entry.size() : entry.columns();
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto first = static_cast<std::size_t>(entry.offset + r * entry.row_stride);
    const auto row = values.subspan(first, static_cast<std::size_t>(columns));
    const auto slope = gradient.empty() ? gradient : gradient.subspan(first, static_cast<std::size_t>(columns));
    double own = 0;
    if (by_row)
      own = add_together(row, slope, law.centre);
    else
      driver_.add_scale_mixture(law, row, slope, with_value ? &own : nullptr);
    sum += own;
  }
  return sum;
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
