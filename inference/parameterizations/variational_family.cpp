#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/variational_family.h>
#include <stein/inference/weight_driver.h>

#include <cmath>
#include <numbers>

namespace stein::inference {
namespace {

/// Step of the sheet of initial values that starting spreads are drawn from; means and momenta have others.
constexpr std::uint64_t spread_sheet = 16;

/// The noise of draw `sample` of the rows from `coordinates.first_row` on.
template <class Scalar>
VariationalNoise noise_of(const NoiseKey& noise, const ParticleRows<const Scalar>& coordinates, std::int64_t samples,
                          std::int64_t sample) {
  return {.key = {.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization},
          .row = static_cast<std::uint32_t>(coordinates.first_row * samples + sample)};
}

}  // namespace

template <class Scalar>
VariationalFamily<Scalar>::VariationalFamily(Layout weights, const VariationalOptions& options, Device device)
    : options_(checked(options)),
      weights_(std::move(weights)),
      coordinates_(without_padding(weights_)),
      driver_(weight_driver<Scalar>(device)) {
  STEIN_CHECK(options.initial_deviation_low <= options.initial_deviation_high,
              "initial deviations need low ≤ high, got {} and {}", options.initial_deviation_low,
              options.initial_deviation_high);
  for (std::size_t k = 0; k < weights_.entries().size(); ++k) {
    const LayoutEntry& weight = weights_.entries()[k];
    if (!weight.is_weight()) points_.push_back({weight, coordinates_.entries()[k].offset});
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::mean_weights(MatrixView<const Scalar> coordinates, MatrixView<Scalar> weights) const {
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    std::span<const Scalar> packed = coordinates.row(i);
    for (const LayoutEntry& entry : weights_.entries()) {
      driver_.spread(packed.first(entry.size()), entry.columns(), entry.row_stride,
                     weights.row(i).subspan(entry.offset, entry.extent()));
      packed = packed.subspan(entry.size());
    }
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                        MatrixView<Scalar> weights, ForwardTrace&) const {
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const std::span<const Scalar> row = coordinates.values.row(i / samples());
    for (const auto& part : parts_) part->draw(row, noise_of(noise, coordinates, samples(), i), weights.row(i));
    for (const auto& [weight, coordinate] : points_)
      driver_.spread(row.subspan(coordinate, weight.size()), weight.columns(), weight.row_stride,
                     weights.row(i).subspan(weight.offset, weight.extent()));
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                         MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                                         ForwardTrace&) const {
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    const MatrixView<const Scalar> slopes = weight_gradient.block(i * samples(), samples());
    for (std::size_t k = 0; k < parts_.size(); ++k)
      parts_[k]->pull_back(coordinates.values.row(i), noise_of(noise, coordinates, samples(), i * samples()), slopes,
                           prior_precision(k), gradient.row(i));
    for (const auto& [weight, coordinate] : points_)
      driver_.pack_sum({slopes.data + weight.offset, slopes.rows, weight.extent(), slopes.stride}, weight.columns(),
                       weight.row_stride, gradient.row(i).subspan(coordinate, weight.size()));
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::add_entropy(const ParticleRows<const Scalar>& coordinates,
                                            std::span<double> value) const {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::span<const Scalar> row = coordinates.values.row(static_cast<std::int64_t>(i));
    double sum = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const VariationalPart<Scalar>& part = *parts_[k];
      const double half = static_cast<double>(part.variables()) / 2, precision = prior_precision(k);
      sum += part.log_determinant(row) + half * std::log(2 * std::numbers::pi * std::numbers::e);
      if (precision > 0)
        sum += half * std::log(precision / (2 * std::numbers::pi)) - precision / 2 * part.expected_square(row);
    }
    value[i] += sum;
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::include_gaussian_prior(const std::function<double(const std::string&)>& precision_of) {
  prior_precisions_.clear();
  for (const auto& part : parts_) prior_precisions_.push_back(precision_of(part->name()));
}

template <class Scalar>
void VariationalFamily<Scalar>::initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
  for (std::int64_t i = 0; i < particles.rows(); ++i) {
    Draws draws({.seed = seed, .step = spread_sheet, .stream = Stream::initial_values},
                static_cast<std::uint32_t>(particles.first_row() + i));
    for (const auto& part : parts_) part->initialise(particles.values().row(i), draws);
  }
}

template class VariationalFamily<float>;
template class VariationalFamily<double>;

}  // namespace stein::inference
