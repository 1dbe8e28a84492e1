#include <stein/inference/priors/scale_mixture_prior.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stein::inference {

double ScaleMixtureOptions::deviation() const {
  return std::sqrt(wide_share * std::exp(2 * log_wide_deviation) +
                   (1 - wide_share) * std::exp(2 * log_narrow_deviation));
}

template <class Scalar>
ScaleMixturePrior<Scalar>::ScaleMixturePrior(const ScaleMixtureOptions& options, const Layout& weights)
    : options_(checked(options)), weights_(weights) {
  STEIN_CHECK(options.log_wide_deviation > options.log_narrow_deviation,
              "the scale mixture needs log_wide_deviation > log_narrow_deviation, got {} and {}",
              options.log_wide_deviation, options.log_narrow_deviation);
  const double log_deviation[2] = {options.log_wide_deviation, options.log_narrow_deviation};
  const double share[2] = {options.wide_share, 1 - options.wide_share};
  for (int k = 0; k < 2; ++k) {
    precision_[k] = std::exp(-2 * log_deviation[k]);
    log_share_[k] = std::log(share[k]);
    log_constant_[k] = -log_deviation[k] - 0.5 * std::log(2 * std::numbers::pi);
  }
}

template <class Scalar>
double ScaleMixturePrior<Scalar>::add_together(std::span<const Scalar> values, std::span<Scalar> gradient,
                                               double centre) const {
  double square = 0;
  for (const Scalar value : values) square += std::pow(static_cast<double>(value) - centre, 2);
  const auto n = static_cast<double>(values.size());
  double log_density[2];
  for (int k = 0; k < 2; ++k) log_density[k] = log_share_[k] + n * log_constant_[k] - precision_[k] * square / 2;
  // log (e^a + e^b), and the probability of the wide component.
  const double difference = log_density[1] - log_density[0];
  const double wide =
      difference > 0 ? std::exp(-difference) / (1 + std::exp(-difference)) : 1 / (1 + std::exp(difference));
  const double larger = std::max(log_density[0], log_density[1]);
  const auto pull = static_cast<Scalar>(wide * precision_[0] + (1 - wide) * precision_[1]);
  for (std::size_t q = 0; q < gradient.size(); ++q) gradient[q] -= pull * (values[q] - static_cast<Scalar>(centre));
  return larger + std::log1p(std::exp(-std::abs(difference)));
}

template <class Scalar>
void ScaleMixturePrior<Scalar>::add_log_density(const ParticleRows<const Scalar>& rows,
                                                const Evaluation<Scalar>& wanted) const {
  for (std::int64_t i = 0; i < rows.values.rows; ++i) {
    double sum = 0;
    for (const LayoutEntry& entry : weights_.entries()) {
      if (!entry.is_weight()) continue;
      for (std::int64_t r = 0; r < entry.rows(); ++r) {
        const auto first = static_cast<std::size_t>(entry.offset + r * entry.row_stride);
        const auto count = static_cast<std::size_t>(entry.columns());
        const auto row = rows.values.row(i).subspan(first, count);
        const auto slope = wanted.wants_gradient() ? wanted.gradient.row(i).subspan(first, count) : std::span<Scalar>();
        if (options_.mixture_over == MixtureOver::row) {
          sum += add_together(row, slope, entry.centre());
          continue;
        }
        for (std::size_t q = 0; q < count; ++q)
          sum += add_together(row.subspan(q, 1), slope.empty() ? slope : slope.subspan(q, 1), entry.centre());
      }
    }
    if (wanted.wants_value()) wanted.value[i] += sum;
  }
}

template class ScaleMixturePrior<float>;
template class ScaleMixturePrior<double>;

}  // namespace stein::inference
