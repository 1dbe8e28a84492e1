// Rows are eliminated by panels of as many columns as a vector has lanes: a vector of the row goes through all columns
// of a panel in a register. A step of a row waits for the one before; steps of different rows do not, so the rows go
// through a panel one after the other, close enough for the processor to work on several.
//
// Products of rows are added to tiles of four columns and up to three vectors, which stay in registers over all rows.
#include <stein/core/simd.h>
#include <stein/policies/fused/triangular_factor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/policies/fused/triangular_factor.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stein::policies::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t lanes = hn::MaxLanes(Tag());

/// One lane of a vector in all lanes.
HWY_INLINE Vector broadcast(Vector vector, std::size_t lane) {
  const Tag d;
  const hn::RebindToSigned<Tag> index;
  return hn::TableLookupLanes(vector, hn::IndicesFromVec(d, hn::Set(index, static_cast<std::int64_t>(lane))));
}

/// Eliminates all rows by the columns first … first + width − 1. Panels from the second on go on in `rows`.
template <std::size_t width>
void eliminate_panel(const Elimination& work, std::size_t first) {
  const Tag d;
  const std::size_t stride = work.stride;
  for (std::size_t i = 0; i < work.factors.size(); ++i) {
    const double* const reciprocals = work.factors[i] + first;
    const double* const columns = work.factors[i] + (1 + first) * stride;
    double* const row = work.rows + i * stride;
    const double* const from = first == 0 ? work.from + i * work.from_stride : row;
    Vector head = hn::Load(d, from + first), sum = hn::Set(d, work.squares[i]), v[width];
#pragma GCC unroll 8
    for (std::size_t j = 0; j < width; ++j) {
      v[j] = hn::Mul(broadcast(head, j), hn::Set(d, reciprocals[j]));
      sum = hn::MulAdd(v[j], v[j], sum);
      head = hn::NegMulAdd(v[j], hn::Load(d, columns + j * stride + first), head);
    }
    hn::Store(head, d, row + first);
    work.squares[i] = hn::GetLane(sum);
    for (std::size_t k = first + lanes; k < stride; k += lanes) {
      Vector rest = hn::Load(d, from + k);
#pragma GCC unroll 8
      for (std::size_t j = 0; j < width; ++j) rest = hn::NegMulAdd(v[j], hn::Load(d, columns + j * stride + k), rest);
      hn::Store(rest, d, row + k);
    }
  }
}

using Panel = void (*)(const Elimination&, std::size_t);

template <std::size_t... widths>
constexpr std::array<Panel, lanes> panels_of(std::index_sequence<widths...>) {
  return {eliminate_panel<widths + 1>...};
}

void eliminate(const Elimination& work) {
  static constexpr std::array<Panel, lanes> panels = panels_of(std::make_index_sequence<lanes>());
  if (work.columns == 0) return reference::eliminate(work);
  for (std::size_t first = 0; first < work.columns; first += lanes)
    panels[std::min(lanes, work.columns - first) - 1](work, first);
}

void rotate_in(double* factor, const FactorShape& shape, double* row) {
  const Tag d;
  const std::size_t stride = shape.stride();
  for (std::size_t j = 0; j < shape.columns; ++j) {
    if (row[j] == 0) continue;
    double* const column = factor + (1 + j) * stride;
    const double length = std::hypot(column[j], row[j]);
    const Vector cosine = hn::Set(d, column[j] / length), sine = hn::Set(d, row[j] / length);
    for (std::size_t k = j / lanes * lanes; k < stride; k += lanes) {
      const Vector old = hn::Load(d, column + k), rest = hn::Load(d, row + k);
      hn::Store(hn::MulAdd(cosine, old, hn::Mul(sine, rest)), d, column + k);
      hn::Store(hn::MulSub(cosine, rest, hn::Mul(sine, old)), d, row + k);
    }
    column[j] = length;
    row[j] = 0;
    factor[j] = 1 / length;
  }
}

constexpr std::size_t tile_columns = 4;

/// Adds to the columns from `first` on, in so many vectors of rows of the sums from `k` on.
template <std::size_t vectors>
void add_to_tile(double* sums, const FactorShape& shape, const double* rows, std::size_t count, std::size_t first,
                 std::size_t k) {
  const Tag d;
  const std::size_t stride = shape.stride(), width = std::min(tile_columns, shape.columns - first);
  double* const columns = sums + (1 + first) * stride + k;
  Vector sum[tile_columns][vectors];
#pragma GCC unroll 4
  for (std::size_t j = 0; j < tile_columns; ++j)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v)
      sum[j][v] = j < width ? hn::Load(d, columns + j * stride + v * lanes) : hn::Zero(d);
  for (std::size_t i = 0; i < count; ++i) {
    const double* const row = rows + i * stride;
    Vector part[vectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) part[v] = hn::Load(d, row + k + v * lanes);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < tile_columns; ++j) {
      const Vector factor = hn::Set(d, row[first + j]);  // behind the columns, but not behind the stride
#pragma GCC unroll 4
      for (std::size_t v = 0; v < vectors; ++v) sum[j][v] = hn::MulAdd(factor, part[v], sum[j][v]);
    }
  }
#pragma GCC unroll 4
  for (std::size_t j = 0; j < tile_columns; ++j)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v)
      if (j < width) hn::Store(sum[j][v], d, columns + j * stride + v * lanes);
}

void add_products(double* sums, const FactorShape& shape, const double* rows, std::size_t count) {
  for (std::size_t first = 0; first < shape.columns; first += tile_columns) {
    std::size_t k = first / lanes * lanes;
    for (; k + 3 * lanes <= shape.stride(); k += 3 * lanes) add_to_tile<3>(sums, shape, rows, count, first, k);
    for (; k + lanes <= shape.stride(); k += lanes) add_to_tile<1>(sums, shape, rows, count, first, k);
  }
}

bool factorise(double* sums, const FactorShape& shape) {
  const Tag d;
  const std::size_t stride = shape.stride();
  for (std::size_t j = 0; j < shape.columns; ++j) sums[j] = sums[(1 + j) * stride + j];
  for (std::size_t j = 0; j < shape.columns; ++j) {
    double* const column = sums + (1 + j) * stride;
    const double square = column[j];
    if (!(square >= least_pivot_share * sums[j])) return false;
    const double pivot = std::sqrt(square);
    sums[j] = 1 / pivot;
    if (square > 0) {
      const Vector reciprocal = hn::Set(d, sums[j]);
      for (std::size_t k = j / lanes * lanes; k < stride; k += lanes)
        hn::Store(hn::Mul(hn::Load(d, column + k), reciprocal), d, column + k);
      for (std::size_t m = j + 1; m < shape.columns; ++m) {
        double* const later = sums + (1 + m) * stride;
        const Vector share = hn::Set(d, column[m]);
        for (std::size_t k = m / lanes * lanes; k < stride; k += lanes)
          hn::Store(hn::NegMulAdd(share, hn::Load(d, column + k), hn::Load(d, later + k)), d, later + k);
      }
    }
    std::fill_n(column, j, 0.0);
    column[j] = pivot;
  }
  return true;
}

}  // namespace stein::policies::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::policies::fused {

HWY_EXPORT(eliminate);
HWY_EXPORT(rotate_in);
HWY_EXPORT(add_products);
HWY_EXPORT(factorise);

void eliminate(const Elimination& work) {
  HWY_DYNAMIC_DISPATCH(eliminate)(work);
}

void rotate_in(double* factor, const FactorShape& shape, double* row) {
  HWY_DYNAMIC_DISPATCH(rotate_in)(factor, shape, row);
}

void add_products(double* sums, const FactorShape& shape, const double* rows, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_products)(sums, shape, rows, count);
}

bool factorise(double* sums, const FactorShape& shape) {
  return HWY_DYNAMIC_DISPATCH(factorise)(sums, shape);
}

}  // namespace stein::policies::fused
#endif
