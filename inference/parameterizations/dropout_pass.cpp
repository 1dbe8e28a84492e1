#include <stein/inference/parameterizations/dropout_pass.h>

#include <algorithm>

namespace stein::inference {

template <class Scalar>
void drop_units(const DroppedUnits& units, std::uint32_t draw, std::span<Scalar> weights) {
  const std::int64_t rows = std::ssize(weights) / units.stride;
  for (std::int64_t unit = 0; unit < rows; ++unit) {
    const auto factor = static_cast<Scalar>(units.factor(draw, unit));
    for (Scalar& weight : weights.subspan(static_cast<std::size_t>(unit * units.stride), units.columns))
      weight *= factor;
  }
}

template <class Scalar>
void pull_back_units(const DroppedUnits& units, std::uint32_t first_draw, MatrixView<const Scalar> weight_gradient,
                     std::span<Scalar> gradient) {
  std::ranges::fill(gradient, Scalar{0});
  const std::int64_t rows = std::ssize(gradient) / units.columns;
  for (std::int64_t s = 0; s < weight_gradient.rows; ++s)
    for (std::int64_t unit = 0; unit < rows; ++unit) {
      const auto factor = static_cast<Scalar>(units.factor(first_draw + static_cast<std::uint32_t>(s), unit));
      for (std::int64_t j = 0; j < units.columns; ++j)
        gradient[unit * units.columns + j] += factor * weight_gradient(s, unit * units.stride + j);
    }
}

template void drop_units(const DroppedUnits&, std::uint32_t, std::span<float>);
template void drop_units(const DroppedUnits&, std::uint32_t, std::span<double>);
template void pull_back_units(const DroppedUnits&, std::uint32_t, MatrixView<const float>, std::span<float>);
template void pull_back_units(const DroppedUnits&, std::uint32_t, MatrixView<const double>, std::span<double>);

}  // namespace stein::inference
