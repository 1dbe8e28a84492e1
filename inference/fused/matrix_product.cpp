#include <stein/core/parallel.h>
#include <stein/core/simd.h>
#include <stein/inference/fused/bfloat16_product.h>
#include <stein/inference/fused/matrix_product.h>
#include <stein/inference/fused/scratch.h>

#include <algorithm>
#include <bit>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/matrix_product.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/block-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

using fused::MatrixOperand;
using fused::PackedMatrix;

/// Rows of B that are worked on together: a panel of them stays in the first cache beside the rows of A.
constexpr std::int64_t depth = 256;
constexpr std::int64_t panel_columns = widest_panel * lanes;

/// B [k, n] in panels of `panel_columns`, the last one as many vectors wide as it needs; row by row within a panel,
/// zeros behind the last column. A transposed B is read a cache line at a time.
void pack_panel(std::int64_t k, std::int64_t n, const MatrixOperand& b, std::int64_t panel, float* to) {
  constexpr std::int64_t together = 16;
  const std::int64_t first = panel * panel_columns, columns = std::min(panel_columns, n - first);
  const std::int64_t width = padded(columns);
  const float* const from = b.data + first * b.column;
  to += first * k;
  if (b.row == 1) {
    for (std::int64_t i = 0; i < k; i += together)
      transpose_padded({from + i, b.column}, columns, std::min(together, k - i), width, {to + i * width, width});
    return;
  }
  for (std::int64_t i = 0; i < k; ++i) {
    float* const row = to + i * width;
    if (b.column == 1) {
      std::copy_n(from + i * b.row, columns, row);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) row[j] = from[i * b.row + j * b.column];
    }
    std::fill(row + columns, row + width, 0.0f);
  }
}

/// Columns of C that one task computes, whole panels: its part of B stays in the second cache.
std::int64_t task_columns() {
  return 256 / panel_columns * panel_columns;
}

std::int64_t packed_panels(std::int64_t n) {
  return (n + panel_columns - 1) / panel_columns;
}

std::int64_t packed_size(std::int64_t k, std::int64_t n) {
  return k * padded(n);
}

struct RowsScratch;

/// One panel of C's columns for some rows of A, in tiles. Where the panel's last vector reaches past the columns, tiles
/// are computed beside C and copied.
template <Start start, bool adjacent, int V>
void panel_rows(Product p, std::int64_t columns, const float* packed_a) {
  constexpr int R = tile_height[V];
  HWY_ALIGN float tile[static_cast<std::size_t>(R * V * lanes)];
  const bool whole = columns == V * lanes;
  for (std::int64_t i = 0; i < p.m; i += R) {
    const std::int64_t rows = std::min<std::int64_t>(R, p.m - i);
    Product part = p;
    part.m = rows;
    if constexpr (adjacent)
      part.a = {packed_a + i * p.k, 1, R};
    else
      part.a.data += i * p.a.row;
    part.c += i * p.c_stride;
    if (whole) {
      product_rows<start, false, adjacent, R, V>(part, 0, 0, rows);
      continue;
    }
    float* const c = part.c;
    part.c = tile, part.c_stride = V * lanes;
    if constexpr (start == Start::add_to_c)
      for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(c + r * p.c_stride, columns, tile + r * V * lanes);
        std::fill(tile + r * V * lanes + columns, tile + (r + 1) * V * lanes, 0.0f);
      }
    product_rows<start, false, adjacent, R, V>(part, 0, 0, rows);
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(tile + r * V * lanes, columns, c + r * p.c_stride);
  }
}

template <Start start, bool adjacent>
void panel_of_width(const Product& p, std::int64_t columns, const float* packed_a) {
  switch (padded(columns) / lanes) {
    case 1: return panel_rows<start, adjacent, 1>(p, columns, packed_a);
    case 2: return panel_rows<start, adjacent, 2>(p, columns, packed_a);
    case 3: return panel_rows<start, adjacent, 3>(p, columns, packed_a);
    default: return panel_rows<start, adjacent, widest_panel>(p, columns, packed_a);
  }
}

/// Rows of A as the tiles of a panel of this width want them side by side.
void pack_rows_for(std::int64_t width, const Operand& a, std::int64_t rows, std::int64_t k, float* to) {
  switch (width) {
    case 1: return pack_rows<tile_height[1]>(a, rows, k, to);
    case 2: return pack_rows<tile_height[2]>(a, rows, k, to);
    case 3: return pack_rows<tile_height[3]>(a, rows, k, to);
    default: return pack_rows<tile_height[widest_panel]>(a, rows, k, to);
  }
}

/// The rows of C, and of A, and the columns from first_column on that one task computes.
void product_block(std::int64_t rows, std::int64_t first_column, std::int64_t columns, const MatrixOperand& a,
                   const PackedMatrix& b, float* c, std::int64_t c_stride, bool add) {
  const std::int64_t k = b.rows(), n = b.columns();
  const bool turned = a.column != 1;
  float* const packed_a = turned ? fused::scratch<RowsScratch>((rows + 16) * depth) : nullptr;
  for (std::int64_t p = 0; p < k; p += depth) {
    const std::int64_t deep = std::min(depth, k - p);
    std::int64_t packed_width = 0;
    for (std::int64_t j = first_column; j < first_column + columns; j += panel_columns) {
      const std::int64_t here = std::min(panel_columns, n - j), width = padded(here);
      Product product{.m = rows,
                      .n = width,
                      .k = deep,
                      .a = {a.data + p * a.column, a.row, a.column},
                      .b = b.data() + j * k + p * width,
                      .b_stride = width,
                      .c = c + j,
                      .c_stride = c_stride};
      if (turned && packed_width != width / lanes) {
        packed_width = width / lanes;
        pack_rows_for(packed_width, product.a, rows, deep, packed_a);
      }
      const bool adds = add || p > 0;
      if (turned)
        adds ? panel_of_width<Start::add_to_c, true>(product, here, packed_a)
             : panel_of_width<Start::zero, true>(product, here, packed_a);
      else
        adds ? panel_of_width<Start::add_to_c, false>(product, here, packed_a)
             : panel_of_width<Start::zero, false>(product, here, packed_a);
    }
  }
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference::fused {

HWY_EXPORT(pack_panel);
HWY_EXPORT(task_columns);
HWY_EXPORT(packed_panels);
HWY_EXPORT(packed_size);
HWY_EXPORT(product_block);

namespace {

struct PairsScratch;
struct RoundedScratch;

/// To the nearest number of bfloat16, a tie to the even one; what is not finite stays so.
float rounded_to_bfloat16(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t near = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  constexpr std::uint32_t exponent = 0x7f800000u;
  return std::bit_cast<float>((bits & exponent) == exponent ? bits : near);
}

/// Rows of A from first_row on, rounded, in the order in which they lie there: what a block of products reads instead.
MatrixOperand rounded_rows(std::int64_t rows, std::int64_t first_row, std::int64_t k, const MatrixOperand& a) {
  float* const to = scratch<RoundedScratch>(rows * k);
  const bool by_rows = a.column == 1;
  const MatrixOperand rounded = by_rows ? MatrixOperand{to, k, 1} : MatrixOperand{to, 1, rows};
  const std::int64_t lines = by_rows ? rows : k, length = by_rows ? k : rows;
  const std::int64_t next_line = by_rows ? a.row : a.column, next = by_rows ? 1 : a.row;
  const float* const from = a.data + first_row * a.row;
  for (std::int64_t i = 0; i < lines; ++i)
    for (std::int64_t j = 0; j < length; ++j) to[i * length + j] = rounded_to_bfloat16(from[i * next_line + j * next]);
  return rounded;
}

std::int64_t panels_of_pairs(std::int64_t n) {
  return (n + bfloat16::panel_columns - 1) / bfloat16::panel_columns;
}

/// The rows and columns of C from first_row, first_column on that one task computes.
void product_of_pairs(std::int64_t rows, std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                      const MatrixOperand& a, const PackedMatrix& b, float* c, std::int64_t c_stride, bool add) {
  constexpr std::int64_t deepest = 512;  // terms that are worked on together, as in single precision: 64 KiB of B
  const std::int64_t k = b.rows();
  std::uint32_t* const packed_a = scratch<PairsScratch, std::uint32_t>(rows * bfloat16::pairs_of(deepest));
  for (std::int64_t p = 0; p < k; p += deepest) {
    const std::int64_t deep = std::min(deepest, k - p), pairs = bfloat16::pairs_of(deep);
    const bfloat16::PairedRows paired =
        bfloat16::pack_rows(rows, deep, a.data + first_row * a.row + p * a.column, a.row, a.column, packed_a);
    for (std::int64_t j = first_column; j < first_column + columns; j += bfloat16::panel_columns) {
      const std::int64_t here = std::min(bfloat16::panel_columns, b.columns() - j), width = bfloat16::padded(here);
      bfloat16::multiply_panel(rows, here, pairs, paired, b.pairs() + j * bfloat16::pairs_of(k) + p / 2 * width,
                               c + first_row * c_stride + j, c_stride, add || p > 0);
    }
  }
}

}  // namespace

PackedMatrix::PackedMatrix(Precision precision)
    : precision_(precision), in_pairs_(precision == Precision::bfloat16 && bfloat16::has_products()) {}

void PackedMatrix::pack(std::int64_t k, std::int64_t n, const MatrixOperand& b) {
  k_ = k, n_ = n;
  const std::int64_t panels_of_task = std::max<std::int64_t>(1, 65536 / (k * 64 + 1));
  if (in_pairs_) {
    const auto pairs = static_cast<std::size_t>(bfloat16::pairs_of(k) * bfloat16::padded(n));
    if (pairs_.size() < pairs) pairs_ = AlignedBuffer<std::uint32_t>(pairs);
    parallel_blocks(panels_of_pairs(n), panels_of_task, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j = begin * bfloat16::panel_columns; j < std::min(n, end * bfloat16::panel_columns);
           j += bfloat16::panel_columns)
        bfloat16::pack_panel(k, std::min(bfloat16::panel_columns, n - j), b.data + j * b.column, b.row, b.column,
                             pairs_.data() + j * bfloat16::pairs_of(k));
    });
    return;
  }
  const std::int64_t size = HWY_DYNAMIC_DISPATCH(packed_size)(k, n);
  if (static_cast<std::int64_t>(numbers_.size()) < size)
    numbers_ = AlignedBuffer<float>(static_cast<std::size_t>(size));
  parallel_blocks(HWY_DYNAMIC_DISPATCH(packed_panels)(n), panels_of_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t panel = begin; panel < end; ++panel)
      HWY_DYNAMIC_DISPATCH(pack_panel)(k, n, b, panel, numbers_.data());
  });
  if (precision_ == Precision::single) return;
  parallel_blocks(size, 65536, [&](std::int64_t begin, std::int64_t end) {
    for (float& number : std::span(numbers_.data() + begin, numbers_.data() + end))
      number = rounded_to_bfloat16(number);
  });
}

void multiply(std::int64_t m, const MatrixOperand& a, const PackedMatrix& b, float* c, std::int64_t c_stride,
              ProductStart start) {
  constexpr std::int64_t rows = 120;       // of C that one task computes
  constexpr std::int64_t small = 1 << 18;  // multiplications that are one task
  const bool in_pairs = b.in_pairs(), rounds = b.precision() == Precision::bfloat16, add = start == ProductStart::add;
  const std::int64_t columns = in_pairs ? 4 * bfloat16::panel_columns : HWY_DYNAMIC_DISPATCH(task_columns)();
  const std::int64_t n = b.columns();
  const auto block = [&](std::int64_t first_row, std::int64_t first_column, std::int64_t block_rows,
                         std::int64_t block_columns) {
    if (in_pairs) return product_of_pairs(block_rows, first_row, first_column, block_columns, a, b, c, c_stride, add);
    const MatrixOperand part = rounds ? rounded_rows(block_rows, first_row, b.rows(), a)
                                      : MatrixOperand{a.data + first_row * a.row, a.row, a.column};
    HWY_DYNAMIC_DISPATCH(product_block)
    (block_rows, first_column, block_columns, part, b, c + first_row * c_stride, c_stride, add);
  };
  if (m * n * b.rows() <= small) return block(0, 0, m, n);
  const std::int64_t row_blocks = (m + rows - 1) / rows, column_blocks = (n + columns - 1) / columns;
  parallel_for(row_blocks * column_blocks, [&](std::int64_t task) {
    const std::int64_t row = task / column_blocks * rows, column = task % column_blocks * columns;
    block(row, column, std::min(rows, m - row), std::min(columns, n - column));
  });
}

}  // namespace stein::inference::fused
#endif
