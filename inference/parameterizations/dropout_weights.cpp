#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/dropout_weights.h>
#include <stein/inference/weight_driver.h>

namespace stein::inference {

template <class Scalar>
DropoutWeights<Scalar>::DropoutWeights(Layout weights, const DropoutWeightsOptions& options, Device device)
    : options_(checked(options)),
      weights_(std::move(weights)),
      coordinates_(without_padding(weights_)),
      driver_(weight_driver<Scalar>(device)) {
  std::int64_t units = 0;
  for (const LayoutEntry& entry : weights_.entries()) {
    Part& part = parts_.emplace_back(entry, coordinates_.at(entry.name).offset, std::nullopt);
    if (entry.role != Role::weight || entry.layer == 0) continue;
    STEIN_CHECK(entry.shape.size() == 2, "dropped units need matrices, got '{}' of {} dimensions", entry.name,
                entry.shape.size());
    part.first_unit = units;
    units += entry.rows();
  }
}

template <class Scalar>
DroppedUnits DropoutWeights<Scalar>::units_of(const Part& part, const NoiseKey& noise) const {
  return {.key = {.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization},
          .rate = options_.dropout_rate,
          .first = *part.first_unit,
          .columns = part.weight.columns(),
          .stride = part.weight.row_stride};
}

template <class Scalar>
void DropoutWeights<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                     MatrixView<Scalar> weights, ForwardTrace&) const {
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const std::int64_t row = i / options_.weight_samples, sample = i % options_.weight_samples;
    const std::uint32_t draw = first_draw(coordinates, row) + static_cast<std::uint32_t>(sample);
    for (const Part& part : parts_) {
      const LayoutEntry& entry = part.weight;
      const std::span<Scalar> drawn = weights.row(i).subspan(entry.offset, entry.extent());
      driver_.spread(coordinates.values.row(row).subspan(part.coordinate, entry.size()), entry.columns(),
                     entry.row_stride, drawn);
      if (part.first_unit) driver_.drop_units(units_of(part, noise), draw, drawn);
    }
  }
}

template <class Scalar>
void DropoutWeights<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                      MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                                      ForwardTrace&) const {
  for (std::int64_t i = 0; i < gradient.rows; ++i) {
    const MatrixView<const Scalar> slopes = weight_gradient.block(i * options_.weight_samples, options_.weight_samples);
    for (const Part& part : parts_) {
      const LayoutEntry& entry = part.weight;
      const MatrixView<const Scalar> own{slopes.data + entry.offset, slopes.rows, entry.extent(), slopes.stride};
      const std::span<Scalar> sum = gradient.row(i).subspan(part.coordinate, entry.size());
      if (part.first_unit)
        driver_.pull_back_units(units_of(part, noise), first_draw(coordinates, i), own, sum);
      else
        driver_.pack_sum(own, entry.columns(), entry.row_stride, sum);
    }
  }
}

template <class Scalar>
void DropoutWeights<Scalar>::initialise(Particles<Scalar>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

template class DropoutWeights<float>;
template class DropoutWeights<double>;

}  // namespace stein::inference
