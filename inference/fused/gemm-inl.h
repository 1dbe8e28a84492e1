// Small matrix products on SIMD registers: C = A·B (+ C or a bias row), optionally through ReLU. Included once a target
// by files that Highway's foreach_target compiles. The matrices are a few hundred numbers wide and stay in the cache,
// so there is no packing and no blocking beyond the register tile.
#if defined(STEIN_INFERENCE_FUSED_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_GEMM_INL_H_
#undef STEIN_INFERENCE_FUSED_GEMM_INL_H_
#else
#define STEIN_INFERENCE_FUSED_GEMM_INL_H_
#endif

#include <hwy/highway.h>

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

/// A tile of R rows and V vectors of C, held in registers over all of k.
template <Start start, bool relu, int R, int V>
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
  const float* a = p.a.data + i * p.a.row;
  const float* b = p.b + j;
  for (std::int64_t k = 0; k < p.k; ++k, a += p.a.column, b += p.b_stride) {
    FloatVector row[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) row[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const FloatVector factor = hn::Set(d, a[r * p.a.row]);
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

/// The last `rows` < R rows of a panel, as one tile of exactly that height.
template <Start start, bool relu, int R, int V>
HWY_INLINE void product_rest(const Product& p, std::int64_t i, std::int64_t j, std::int64_t rows) {
  if constexpr (R >= 1) {
    if (rows == R) return product_tile<start, relu, R, V>(p, i, j);
    product_rest<start, relu, R - 1, V>(p, i, j, rows);
  }
}

/// All rows of a panel of V vectors: R rows at a time, as many as the registers hold beside B and one factor.
template <Start start, bool relu, int V>
void product_panel(const Product& p, std::int64_t j) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  constexpr int R = V == 1 ? 12 : V == 2 ? 12 : V == 3 ? 8 : 6;
#else
  constexpr int R = V == 1 ? 10 : V == 2 ? 6 : V == 3 ? 4 : 3;
#endif
  std::int64_t i = 0;
  for (; i + R <= p.m; i += R) product_tile<start, relu, R, V>(p, i, j);
  product_rest<start, relu, R - 1, V>(p, i, j, p.m - i);
}

/// The whole product, in panels of up to four vectors of nearly equal width.
template <Start start, bool relu = false>
void product(const Product& p) {
  std::int64_t vectors = p.n / lanes, j = 0;
  for (std::int64_t panels = (vectors + 3) / 4; panels > 0; --panels) {
    const std::int64_t width = (vectors + panels - 1) / panels;
    switch (width) {
      case 1: product_panel<start, relu, 1>(p, j); break;
      case 2: product_panel<start, relu, 2>(p, j); break;
      case 3: product_panel<start, relu, 3>(p, j); break;
      default: product_panel<start, relu, 4>(p, j); break;
    }
    j += width * lanes;
    vectors -= width;
  }
}

/// The next whole number of vectors.
constexpr std::int64_t padded(std::int64_t size) {
  return (size + lanes - 1) / lanes * lanes;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
