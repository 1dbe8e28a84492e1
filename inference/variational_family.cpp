#include <stein/inference/direct.h>
#include <stein/inference/variational_family.h>

#include <algorithm>
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
VariationalFamily<Scalar>::VariationalFamily(Layout weights, const VariationalOptions& options)
    : options_(checked(options)), weights_(std::move(weights)), coordinates_(without_padding(weights_)) {
  STEIN_CHECK(options.initial_deviation_low <= options.initial_deviation_high,
              "initial deviations need low ≤ high, got {} and {}", options.initial_deviation_low,
              options.initial_deviation_high);
}

template <class Scalar>
void VariationalFamily<Scalar>::mean_weights(MatrixView<const Scalar> coordinates, MatrixView<Scalar> weights) const {
  add_padding(weights_, coordinates, weights);
}

template <class Scalar>
void VariationalFamily<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, std::int64_t,
                                        const NoiseKey& noise, MatrixView<Scalar> weights) {
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const auto row = coordinates.values.block(i / samples(), 1);
    mean_weights(row, weights.block(i, 1));
    for (const auto& part : parts_)
      part->add_draw(row.row(0), noise_of(noise, coordinates, samples(), i), weights.row(i));
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, std::int64_t,
                                         const NoiseKey& noise, MatrixView<const Scalar> weight_gradient,
                                         MatrixView<Scalar> gradient) {
  const std::int64_t means = weights_.coordinate_count();
  thread_local AlignedBuffer<Scalar> mean_gradient;
  if (static_cast<std::int64_t>(mean_gradient.size()) < means)
    mean_gradient = AlignedBuffer<Scalar>(static_cast<std::size_t>(means));
  const MatrixView<Scalar> unpadded{mean_gradient.data(), 1, means};
  for (std::int64_t i = 0; i < gradient.rows; ++i) std::ranges::fill(gradient.row(i), Scalar{0});
  for (std::int64_t i = 0; i < weight_gradient.rows; ++i) {
    const auto slope = gradient.row(i / samples());
    remove_padding(weights_, weight_gradient.block(i, 1), unpadded);
    for (std::int64_t j = 0; j < means; ++j) slope[j] += unpadded(0, j);
    for (const auto& part : parts_)
      part->pull_back(coordinates.values.row(i / samples()), noise_of(noise, coordinates, samples(), i),
                      weight_gradient.row(i), slope);
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::add_entropy(const ParticleRows<const Scalar>& coordinates, MatrixView<Scalar> gradient,
                                            std::span<Scalar> value) {
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    double sum = 0;
    for (const auto& part : parts_)
      sum += part->add_log_determinant(coordinates.values.row(i), gradient.row(i)) +
             0.5 * static_cast<double>(part->variables()) * std::log(2 * std::numbers::pi * std::numbers::e);
    if (!value.empty()) value[i] += static_cast<Scalar>(sum);
  }
}

template <class Scalar>
void VariationalFamily<Scalar>::add_expected_gaussian(double precision, MatrixView<const Scalar> coordinates,
                                                      MatrixView<Scalar> gradient, std::span<Scalar> value) const {
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    double sum = 0;
    for (const auto& part : parts_)
      sum += 0.5 * static_cast<double>(part->variables()) * std::log(precision / (2 * std::numbers::pi)) -
             precision * part->add_expected_square(precision, coordinates.row(i), gradient.row(i)) / 2;
    if (!value.empty()) value[i] += static_cast<Scalar>(sum);
  }
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
