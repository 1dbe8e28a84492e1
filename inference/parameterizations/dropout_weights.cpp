#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/dropout_weights.h>

#include <algorithm>

namespace stein::inference {

template <class Scalar>
DropoutWeights<Scalar>::DropoutWeights(Layout weights, const DropoutWeightsOptions& options)
    : options_(checked(options)), weights_(std::move(weights)), coordinates_(without_padding(weights_)) {
  for (const LayoutEntry& entry : weights_.entries()) {
    if (entry.role != Role::weight || entry.layer == 0) continue;
    STEIN_CHECK(entry.shape.size() == 2, "dropped units need matrices, got '{}' of {} dimensions", entry.name,
                entry.shape.size());
    dropped_.push_back({entry, coordinates_.at(entry.name).offset});
  }
}

template <class Scalar>
template <class Visit>
void DropoutWeights<Scalar>::for_each_unit(const NoiseKey& noise, std::int64_t draw, const Visit& visit) const {
  const auto kept = static_cast<Scalar>(1 / (1 - options_.dropout_rate));
  Draws draws({.seed = noise.seed, .step = noise.step, .stream = Stream::parameterization},
              static_cast<std::uint32_t>(draw));
  for (const Dropped& dropped : dropped_)
    for (std::int64_t row = 0; row < dropped.weight.rows(); ++row)
      visit(dropped, row, draws.uniform() < options_.dropout_rate ? Scalar{0} : kept);
}

template <class Scalar>
void DropoutWeights<Scalar>::forward(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                     MatrixView<Scalar> weights, ForwardTrace&) const {
  const std::int64_t samples = options_.weight_samples;
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i)
    for (std::int64_t s = 0; s < samples; ++s) {
      const MatrixView<Scalar> one = weights.block(i * samples + s, 1);
      add_padding<Scalar>(weights_, coordinates.values.block(i, 1), one);
      for_each_unit(noise, (coordinates.first_row + i) * samples + s,
                    [&](const Dropped& dropped, std::int64_t row, Scalar factor) {
                      Scalar* const values = one.data + dropped.weight.offset + row * dropped.weight.row_stride;
                      for (std::int64_t j = 0; j < dropped.weight.columns(); ++j) values[j] *= factor;
                    });
    }
}

template <class Scalar>
void DropoutWeights<Scalar>::pullback(const ParticleRows<const Scalar>& coordinates, const NoiseKey& noise,
                                      MatrixView<const Scalar> weight_gradient, MatrixView<Scalar> gradient,
                                      ForwardTrace&) const {
  const std::int64_t samples = options_.weight_samples;
  thread_local std::vector<Scalar> packed;
  packed.resize(static_cast<std::size_t>(coordinates_.size()));
  for (std::int64_t i = 0; i < coordinates.values.rows; ++i) {
    const std::span<Scalar> sum = gradient.row(i).first(packed.size());
    std::ranges::fill(sum, Scalar{0});
    for (std::int64_t s = 0; s < samples; ++s) {
      remove_padding<Scalar>(weights_, weight_gradient.block(i * samples + s, 1),
                             {packed.data(), 1, coordinates_.size()});
      for_each_unit(noise, (coordinates.first_row + i) * samples + s,
                    [&](const Dropped& dropped, std::int64_t row, Scalar factor) {
                      const std::int64_t columns = dropped.weight.columns();
                      Scalar* const values = packed.data() + dropped.coordinate + row * columns;
                      for (std::int64_t j = 0; j < columns; ++j) values[j] *= factor;
                    });
      for (std::size_t q = 0; q < packed.size(); ++q) sum[q] += packed[q];
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
