#include <stein/core/simd.h>
#include <stein/inference/vector_arithmetic.h>

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/vector_arithmetic.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

/// Four vectors at a time, so that one multiply-add need not wait for another.
constexpr std::size_t chains = 4;

HWY_INLINE float sum_of(const Vector (&sums)[chains]) {
  const Tag d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))));
}

float subtract_scaled(const float* values, float scale, float* gradient, std::size_t size) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  const Vector factor = hn::Set(d, scale);
  Vector sums[chains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + chains * lanes <= size; i += chains * lanes) {
#pragma GCC unroll 4
    for (std::size_t c = 0; c < chains; ++c) {
      const Vector x = hn::LoadU(d, values + i + c * lanes);
      float* const place = gradient + i + c * lanes;
      hn::StoreU(hn::NegMulAdd(factor, x, hn::LoadU(d, place)), d, place);
      sums[c] = hn::MulAdd(x, x, sums[c]);
    }
  }
  float sum = sum_of(sums);
  for (; i < size; ++i) {
    gradient[i] -= scale * values[i];
    sum += values[i] * values[i];
  }
  return sum;
}

double sum_of_squares(const float* values, std::size_t size) {
  const Tag d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sums[chains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + chains * lanes <= size; i += chains * lanes) {
#pragma GCC unroll 4
    for (std::size_t c = 0; c < chains; ++c) {
      const Vector x = hn::LoadU(d, values + i + c * lanes);
      sums[c] = hn::MulAdd(x, x, sums[c]);
    }
  }
  double sum = sum_of(sums);
  for (; i < size; ++i) sum += double{values[i]} * values[i];
  return sum;
}

void spread_rows(const float* from, std::int64_t rows, std::int64_t columns, float* to, std::int64_t stride) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t whole = columns / lanes * lanes;
  for (std::int64_t i = 0; i < rows; ++i, from += columns, to += stride) {
    for (std::int64_t q = 0; q < whole; q += lanes) hn::StoreU(hn::LoadU(d, from + q), d, to + q);
    // One by one: a masked load needs aligned memory on some targets.
    std::copy(from + whole, from + columns, to + whole);
    std::fill(to + columns, to + stride, 0.0f);
  }
}

void pack_rows(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const bool whole_vectors = (columns + lanes - 1) / lanes * lanes <= stride;
  std::int64_t i = 0;
  // The last vector of a row runs over into the next row, which is written after it.
  for (; whole_vectors && i < rows && (rows - i) * columns >= columns + lanes; ++i, from += stride, to += columns)
    for (std::int64_t q = 0; q < columns; q += lanes) hn::StoreU(hn::LoadU(d, from + q), d, to + q);
  for (; i < rows; ++i, from += stride, to += columns) std::copy_n(from, columns, to);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(subtract_scaled);
HWY_EXPORT(sum_of_squares);
HWY_EXPORT(spread_rows);
HWY_EXPORT(pack_rows);

float subtract_scaled(std::span<const float> values, float scale, std::span<float> gradient) {
  return HWY_DYNAMIC_DISPATCH(subtract_scaled)(values.data(), scale, gradient.data(), values.size());
}

double sum_of_squares(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(values.data(), values.size());
}

double subtract_scaled(std::span<const double> values, double scale, std::span<double> gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradient[i] -= scale * values[i];
    sum += values[i] * values[i];
  }
  return sum;
}

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

void spread_rows(const float* from, std::int64_t rows, std::int64_t columns, float* to, std::int64_t stride) {
  if (stride == columns)
    std::copy_n(from, rows * columns, to);
  else
    HWY_DYNAMIC_DISPATCH(spread_rows)(from, rows, columns, to, stride);
}

void spread_rows(const double* from, std::int64_t rows, std::int64_t columns, double* to, std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i, to += stride) {
    std::copy_n(from + i * columns, columns, to);
    std::fill(to + columns, to + stride, 0.0);
  }
}

void pack_rows(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to) {
  if (stride == columns)
    std::copy_n(from, rows * columns, to);
  else
    HWY_DYNAMIC_DISPATCH(pack_rows)(from, stride, rows, columns, to);
}

void pack_rows(const double* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, double* to) {
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from + i * stride, columns, to + i * columns);
}

}  // namespace stein::inference
#endif
