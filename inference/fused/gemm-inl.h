// Small matrix products on SIMD registers: C = A·B (+ C or a bias row), optionally through ReLU. Included once a target
// by files that Highway's foreach_target compiles. The matrices are a few hundred numbers wide and stay in the cache,
// so B is not packed (it was measured to cost more than it saves) and nothing is blocked beyond the register tile.
#if defined(STEIN_INFERENCE_FUSED_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_GEMM_INL_H_
#undef STEIN_INFERENCE_FUSED_GEMM_INL_H_
#else
#define STEIN_INFERENCE_FUSED_GEMM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(FloatTag()));

/// Where a product starts from.
enum class Start { zero, add_to_c, bias };

/// A as the product reads it: element (i, k) lies at data[i·row + k·column], so a transposed matrix is one with its
/// strides swapped.
struct Operand {
  const float* data;
  std::int64_t row, column;
};

/// C[m, n] = A[m, k]·B[k, n], rows of B and C `stride` apart; n is a whole number of vectors (padded rows).
struct Product {
  std::int64_t m, n, k;
  Operand a;
  const float* b;
  std::int64_t b_stride;
  float* c;
  std::int64_t c_stride;
  const float* bias = nullptr;  ///< [n], with Start::bias
};

/// Row r of A at some k, reached from one of a few pointers by small multiples of the stride, so that no address is
/// spilled; `adjacent` rows (a transposed A) need one pointer only.
template <bool adjacent, int R>
struct RowPointers {
  static constexpr int group = adjacent ? R : 5, count = (R + group - 1) / group;

  HWY_INLINE RowPointers(const Operand& a, std::int64_t i) : row(a.row) {
    const float* const first = a.data + i * (adjacent ? 1 : a.row);
#pragma GCC unroll 16
    for (int g = 0; g < count; ++g) pointer[g] = first + g * group * row;
  }
  HWY_INLINE float get(int r) const {
    return pointer[r / group][r % group * (adjacent ? 1 : row)];
  }
  HWY_INLINE void advance(std::int64_t step) {
#pragma GCC unroll 16
    for (int g = 0; g < count; ++g) pointer[g] += step;
  }

  const float* pointer[count];
  std::int64_t row;
};

/// A tile of R rows and V vectors of C, held in registers over all of k.
template <Start start, bool relu, bool adjacent, int R, int V>
HWY_INLINE void product_tile(const Product& p, std::int64_t i, std::int64_t j) {
  const FloatTag d;
  FloatVector sum[R][V];
  float* const c = p.c + i * p.c_stride + j;
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      if constexpr (start == Start::zero) sum[r][v] = hn::Zero(d);
      if constexpr (start == Start::add_to_c) sum[r][v] = hn::LoadU(d, c + r * p.c_stride + v * lanes);
      if constexpr (start == Start::bias) sum[r][v] = hn::LoadU(d, p.bias + j + v * lanes);
    }
  }
  RowPointers<adjacent, R> a(p.a, i);
  const std::int64_t column = p.a.column, b_stride = p.b_stride;
  const float* b = p.b + j;
  for (std::int64_t k = p.k; k > 0; --k, a.advance(column), b += b_stride) {
    FloatVector row[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) row[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const FloatVector factor = hn::Set(d, a.get(r));
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      if constexpr (relu) sum[r][v] = hn::Max(sum[r][v], hn::Zero(d));
      hn::StoreU(sum[r][v], d, c + r * p.c_stride + v * lanes);
    }
  }
}

/// A tile of `rows` ≤ R rows, as one of exactly that height.
template <Start start, bool relu, bool adjacent, int R, int V>
HWY_INLINE void product_rows(const Product& p, std::int64_t i, std::int64_t j, std::int64_t rows) {
  if (rows == R) return product_tile<start, relu, adjacent, R, V>(p, i, j);
  if constexpr (R > 1) product_rows<start, relu, adjacent, R - 1, V>(p, i, j, rows);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::int64_t widest_panel = 4;
constexpr int tile_height[] = {0, 12, 12, 8, 6};
#else
constexpr std::int64_t widest_panel = 3;
constexpr int tile_height[] = {0, 10, 6, 4, 3};
#endif

/// All rows of a panel of V vectors, in tiles of nearly equal height, at most as high as the registers hold beside B
/// and one factor: a tile of few rows would wait for its own sums.
template <Start start, bool relu, bool adjacent, int V>
void product_panel(const Product& p, std::int64_t j) {
  constexpr int R = tile_height[V];
  std::int64_t i = 0;
  for (std::int64_t tiles = (p.m + R - 1) / R; tiles > 0; --tiles) {
    const std::int64_t rows = (p.m - i + tiles - 1) / tiles;
    product_rows<start, relu, adjacent, R, V>(p, i, j, rows);
    i += rows;
  }
}

template <Start start, bool relu, bool adjacent>
void product_panels(const Product& p) {
  std::int64_t vectors = p.n / lanes, j = 0;
  for (std::int64_t panels = (vectors + widest_panel - 1) / widest_panel; panels > 0; --panels) {
    const std::int64_t width = (vectors + panels - 1) / panels;
    switch (width) {
      case 1: product_panel<start, relu, adjacent, 1>(p, j); break;
      case 2: product_panel<start, relu, adjacent, 2>(p, j); break;
      case 3: product_panel<start, relu, adjacent, 3>(p, j); break;
      default: product_panel<start, relu, adjacent, widest_panel>(p, j); break;
    }
    j += width * lanes;
    vectors -= width;
  }
}

/// The whole product, in panels of nearly equal width.
template <Start start, bool relu = false>
void product(const Product& p) {
  if (p.a.row == 1) {
    product_panels<start, relu, true>(p);
  } else {
    product_panels<start, relu, false>(p);
  }
}

/// A block of A with rows side by side for every k: what the kernel reads with one pointer. Blocks of R rows.
template <int R>
void pack_rows(const Operand& a, std::int64_t rows, std::int64_t k, float* to) {
  for (std::int64_t i = 0; i < rows; i += R) {
    const std::int64_t count = std::min<std::int64_t>(R, rows - i);
    for (std::int64_t p = 0; p < k; ++p, to += R) {
      const float* const from = a.data + p * a.column + i * a.row;
      for (std::int64_t r = 0; r < count; ++r) to[r] = from[r * a.row];
    }
  }
}

/// Numbers that `product_of_packed_rows` lays side by side.
constexpr std::int64_t packed_rows_size(const Product& p) {
  return (p.m + tile_height[widest_panel]) * p.k;
}

/// The whole product, the rows of A first laid side by side in `memory` [packed_rows_size(p)]: worth its time where A
/// is transposed and B has several panels.
template <Start start>
void product_of_packed_rows(const Product& p, float* memory) {
  constexpr int R = tile_height[widest_panel];
  pack_rows<R>(p.a, p.m, p.k, memory);
  const auto panel = [&]<int V>(std::int64_t j) {
    for (std::int64_t i = 0; i < p.m; i += R) {
      Product part = p;
      part.a = {memory + i * p.k, 1, R};
      part.c += i * p.c_stride;
      product_rows<start, false, true, R, V>(part, 0, j, std::min<std::int64_t>(R, p.m - i));
    }
  };
  std::int64_t j = 0;
  for (; j + widest_panel * lanes <= p.n; j += widest_panel * lanes) panel.template operator()<widest_panel>(j);
  switch ((p.n - j) / lanes) {
    case 0: return;
    case 1: return panel.template operator()<1>(j);
    case 2: return panel.template operator()<2>(j);
    default: return panel.template operator()<3>(j);
  }
}

/// The next whole number of vectors.
constexpr std::int64_t padded(std::int64_t size) {
  return (size + lanes - 1) / lanes * lanes;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
