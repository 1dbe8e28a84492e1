#include <stein/core/component.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/mean_field_pass.h>
#include <stein/inference/fused/scale_mixture_pass.h>
#include <stein/inference/fused/slab_shares.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/models/sharpening_pass.h>
#include <stein/inference/parameterizations/dropout_pass.h>
#include <stein/inference/parameterizations/variational_matrix_pass.h>
#include <stein/inference/weight_driver.h>

#include <algorithm>
#include <array>

namespace stein::inference {
namespace {

template <class Scalar>
void add_scale_mixture_to(const ScaleMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient,
                          double* sum) {
  double value = 0;
  if constexpr (std::is_same_v<Scalar, float>)
    value = fused::add_scale_mixture(law, weights, gradient);
  else
    value = reference::add_scale_mixture<Scalar>(law, weights, gradient);
  if (sum != nullptr) *sum = value;
}

template <class Scalar>
void add_row_mixture_to(const RowMixture& law, std::span<const Scalar> weights, std::span<Scalar> gradient,
                        double* sum) {
  const double value = reference::add_row_mixture<Scalar>(law, weights, gradient);
  if (sum != nullptr) *sum = value;
}

template <class Scalar>
void add_noise(const MeanFieldNoise& noise, Scalar deviation, std::int64_t columns, std::int64_t stride,
               std::span<Scalar> weights) {
  std::array<Scalar, 1024> normals;  // of several rows at once: rows are short beside what one filling is good at
  const std::int64_t size = (std::ssize(weights) + stride - 1) / stride * columns;
  for (std::int64_t begin = 0; begin < size; begin += std::ssize(normals)) {
    const std::int64_t end = std::min(begin + std::ssize(normals), size);
    fill_normal(std::span(normals).first(static_cast<std::size_t>(end - begin)), noise.key, noise.row,
                noise.first + static_cast<std::uint64_t>(begin));
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t row = i / columns, column = i % columns, count = std::min(columns - column, end - i);
      for (std::int64_t j = 0; j < count; ++j) weights[row * stride + column + j] += deviation * normals[i - begin + j];
      i += count;
    }
  }
}

template <class Scalar>
void widen(std::span<const Scalar> from, std::span<double> to) {
  constexpr std::int64_t block = 65536;
  parallel_blocks(std::ssize(from), block, [&](std::int64_t begin, std::int64_t end) {
    std::copy(from.data() + begin, from.data() + end, to.data() + begin);
  });
}

template <class Scalar>
void spread(std::span<const Scalar> packed, std::int64_t columns, std::int64_t stride, std::span<Scalar> rows) {
  spread_rows(packed.data(), std::ssize(packed) / columns, columns, rows.data(), stride);
}

template <class Scalar>
void pack_sum(MatrixView<const Scalar> spread_rows, std::int64_t columns, std::int64_t stride,
              std::span<Scalar> packed) {
  for (std::int64_t q = 0; q < std::ssize(packed); ++q) {
    const std::int64_t place = q / columns * stride + q % columns;
    Scalar sum{0};
    for (std::int64_t s = 0; s < spread_rows.rows; ++s) sum += spread_rows(s, place);
    packed[q] = sum;
  }
}

template <class Scalar>
void fill(std::span<Scalar> values, Scalar number) {
  std::ranges::fill(values, number);
}

template <class Scalar>
void shift(std::span<Scalar> values, Scalar number) {
  for (Scalar& value : values) value += number;
}

template <class Scalar>
void scale(std::span<Scalar> values, Scalar factor) {
  for (Scalar& value : values) value *= factor;
}

template <class Scalar>
double sum_of(std::span<const Scalar> values) {
  double sum = 0;
  for (const Scalar value : values) sum += static_cast<double>(value);
  return sum;
}

template <class Scalar>
double sum_of_squares_over(std::span<const Scalar> values, std::span<const double> divisors) {
  double sum = 0;
  for (std::size_t q = 0; q < values.size(); ++q)
    sum += static_cast<double>(values[q]) * static_cast<double>(values[q]) / divisors[q];
  return sum;
}

template <class Scalar>
void add_squares(std::span<const Scalar> values, double factor, std::span<double> sums) {
  for (std::size_t q = 0; q < values.size(); ++q)
    sums[q] += factor * static_cast<double>(values[q]) * static_cast<double>(values[q]);
}

/// With the passes over mean-field Gaussians that there are for its precision.
template <class Scalar>
constexpr WeightDriver<Scalar> host_driver(std::string_view name, decltype(WeightDriver<Scalar>::draw) draw,
                                           decltype(WeightDriver<Scalar>::pull_back) pull_back) {
  return {.name = name,
          .draw = draw,
          .pull_back = pull_back,
          .sum_of_log_deviations = sum_of_log_deviations<Scalar>,
          .sum_of_expected_squares = sum_of_expected_squares<Scalar>,
          .draw_matrix = draw_matrix<Scalar>,
          .pull_back_matrix = pull_back_matrix<Scalar>,
          .expected_square_of_matrix = inference::expected_square_of_matrix<Scalar>,
          .drop_units = inference::drop_units<Scalar>,
          .pull_back_units = inference::pull_back_units<Scalar>,
          .add_noise = add_noise<Scalar>,
          .add_scale_mixture = add_scale_mixture_to<Scalar>,
          .add_row_mixture = add_row_mixture_to<Scalar>,
          .sharpen = sharpen<Scalar>,
          .pull_back_rates = pull_back_rates<Scalar>,
          .widen = widen<Scalar>,
          .add_spike_and_slab = add_spike_and_slab<Scalar>,
          .move_slab_shares = fused::move_slab_shares,
          .slab_sums = slab_sums,
          .spread = spread<Scalar>,
          .pack_sum = pack_sum<Scalar>,
          .fill = fill<Scalar>,
          .shift = shift<Scalar>,
          .scale = scale<Scalar>,
          .sum = sum_of<Scalar>,
          .sum_of_squares_over = sum_of_squares_over<Scalar>,
          .add_squares = add_squares<Scalar>};
}

constexpr WeightDriver<float> simd_driver = host_driver<float>("simd", fused::draw, fused::pull_back);
constexpr WeightDriver<double> reference_driver =
    host_driver<double>("reference", reference::draw<double>, reference::pull_back<double>);

}  // namespace

Registry<const WeightDriver<float>*>& weight_drivers() {
  static Registry<const WeightDriver<float>*> registry("driver of weights on a device");
  return registry;
}

template <>
const WeightDriver<float>& weight_driver(Device device) {
  if (device.kind == Device::Kind::host) return simd_driver;
  if (device.kind == Device::Kind::fenced) return *weight_drivers().at("fenced");
  load_component("cuda");
  return *weight_drivers().at("cuda");
}

template <>
const WeightDriver<double>& weight_driver(Device device) {
  STEIN_CHECK(device.kind == Device::Kind::host, "weights in double are on the host only; on a device take floats");
  return reference_driver;
}

}  // namespace stein::inference
