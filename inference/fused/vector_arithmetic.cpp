#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/vector_arithmetic.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/vector_arithmetic.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

// Sums have the same bits whatever the width of a vector: number i goes to lane i mod 16 in float, products are rounded
// before they are added, and every 4,096 numbers the lanes are added to sums in double.
constexpr std::size_t sum_lanes = 16;
constexpr std::size_t sum_block = 4096;
constexpr std::size_t sum_vectors = sum_lanes / hn::MaxLanes(Tag());

/// Adds the squares of the next 16 values; with `subtracts` also gradient ← gradient − factor · values.
template <bool subtracts>
HWY_INLINE void add_squares(const float* values, [[maybe_unused]] Vector factor, [[maybe_unused]] float* gradient,
                            Vector (&sums)[sum_vectors]) {
  const Tag d;
#pragma GCC unroll 16
  for (std::size_t k = 0; k < sum_vectors; ++k) {
    const Vector x = hn::LoadU(d, values + k * hn::Lanes(d));
    if constexpr (subtracts) {
      float* const place = gradient + k * hn::Lanes(d);
      hn::StoreU(hn::Sub(hn::LoadU(d, place), hn::Mul(factor, x)), d, place);
    }
    sums[k] = hn::Add(sums[k], hn::Mul(x, x));
  }
}

/// The lanes of at most 4,096 values, added to `totals`.
template <bool subtracts>
HWY_INLINE void add_block(const float* values, [[maybe_unused]] float scale, float* gradient, std::size_t size,
                          double (&totals)[sum_lanes]) {
  const Tag d;
  const Vector factor = hn::Set(d, scale);
  Vector sums[sum_vectors];
  for (Vector& sum : sums) sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + sum_lanes <= size; i += sum_lanes) add_squares<subtracts>(values + i, factor, gradient + i, sums);
  float lanes[sum_lanes];
  for (std::size_t k = 0; k < sum_vectors; ++k) hn::StoreU(sums[k], d, lanes + k * hn::Lanes(d));
  for (; i < size; ++i) {
    if constexpr (subtracts) gradient[i] -= scale * values[i];
    lanes[i % sum_lanes] += values[i] * values[i];
  }
  for (std::size_t l = 0; l < sum_lanes; ++l) totals[l] += static_cast<double>(lanes[l]);
}

template <bool subtracts>
HWY_INLINE double squares(const float* values, float scale, float* gradient, std::size_t size) {
  double totals[sum_lanes] = {};
  for (std::size_t first = 0; first < size; first += sum_block)
    add_block<subtracts>(values + first, scale, subtracts ? gradient + first : nullptr,
                         std::min(sum_block, size - first), totals);
  double sum = 0;
  for (const double total : totals) sum += total;
  return sum;
}

double subtract_scaled(const float* values, float scale, float* gradient, std::size_t size) {
  return squares<true>(values, scale, gradient, size);
}

void multiply(float* values, double scale, std::size_t size) {
  const hn::Half<Tag> half;
  const hn::Rebind<double, hn::Half<Tag>> wide;
  const auto factor = hn::Set(wide, scale);
  const std::size_t step = hn::Lanes(half);
  std::size_t i = 0;
  if constexpr (hn::MaxLanes(Tag()) > 1)
    for (; i + step <= size; i += step)
      hn::StoreU(hn::DemoteTo(half, hn::Mul(hn::PromoteTo(wide, hn::LoadU(half, values + i)), factor)), half,
                 values + i);
  for (; i < size; ++i) values[i] = static_cast<float>(static_cast<double>(values[i]) * scale);
}

double sum_of_squares(const float* values, std::size_t size) {
  return squares<false>(values, 0, nullptr, size);
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
HWY_EXPORT(multiply);
HWY_EXPORT(spread_rows);
HWY_EXPORT(pack_rows);

namespace {

template <class Scalar>
bool finite_blocks(std::span<const Scalar> values) {
  constexpr std::int64_t block = 65536;
  std::atomic<bool> all = true;
  parallel_blocks(std::ssize(values), block, [&](std::int64_t begin, std::int64_t end) {
    const auto part = values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    // A sum is quick, but it may overflow.
    if (!std::isfinite(sum_of_squares(part)) && !std::ranges::all_of(part, [](Scalar x) { return std::isfinite(x); }))
      all = false;
  });
  return all;
}

/// sum(begin, size) over a whole vector, of long ones block by block on all threads.
template <class Sum>
double sum_over_blocks(std::size_t size, const Sum& sum) {
  constexpr std::int64_t block = 65536, many = 4;
  const auto whole = static_cast<std::int64_t>(size);
  if (whole < many * block) return sum(0, size);
  std::vector<double> sums(static_cast<std::size_t>((whole + block - 1) / block));
  parallel_blocks(whole, block, [&](std::int64_t begin, std::int64_t end) {
    sums[static_cast<std::size_t>(begin / block)] =
        sum(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

bool all_finite(std::span<const float> values) {
  return finite_blocks(values);
}

bool all_finite(std::span<const double> values) {
  return finite_blocks(values);
}

double subtract_scaled(std::span<const float> values, float scale, std::span<float> gradient) {
  return sum_over_blocks(values.size(), [&](std::size_t begin, std::size_t size) {
    return HWY_DYNAMIC_DISPATCH(subtract_scaled)(values.data() + begin, scale, gradient.data() + begin, size);
  });
}

double sum_of_squares(std::span<const float> values) {
  return sum_over_blocks(values.size(), [&](std::size_t begin, std::size_t size) {
    return HWY_DYNAMIC_DISPATCH(sum_of_squares)(values.data() + begin, size);
  });
}

void multiply(std::span<float> values, double scale) {
  constexpr std::int64_t block = 65536;
  parallel_blocks(std::ssize(values), block, [&](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(multiply)(values.data() + begin, scale, static_cast<std::size_t>(end - begin));
  });
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
