// Products of small matrices in the forms that the structured parameterization needs. Included once a target by files
// that Highway's foreach_target compiles.
#if defined(STEIN_INFERENCE_FUSED_LOW_RANK_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_LOW_RANK_UPDATE_INL_H_
#undef STEIN_INFERENCE_FUSED_LOW_RANK_UPDATE_INL_H_
#else
#define STEIN_INFERENCE_FUSED_LOW_RANK_UPDATE_INL_H_
#endif

#include <stein/inference/fused/block-inl.h>
#include <stein/inference/fused/gemm-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

struct ProductSize {
  std::int64_t m, n, k;
};

inline Operand by_rows(ConstBlock a) {
  return {a.data, a.stride, 1};
}
/// The transpose of `a`.
inline Operand by_columns(ConstBlock a) {
  return {a.data, 1, a.stride};
}

/// C = A·B (+ C); n is rounded to whole vectors already.
template <Start start>
void multiply(ProductSize size, Operand a, ConstBlock b, Block c) {
  product<start>({.m = size.m,
                  .n = size.n,
                  .k = size.k,
                  .a = a,
                  .b = b.data,
                  .b_stride = b.stride,
                  .c = c.data,
                  .c_stride = c.stride});
}

/// L·R with L [m, rank] and R [rank, n], n a whole number of vectors.
struct LowRank {
  ConstBlock left, right;
  std::int64_t rank, n;
};

/// The first a_columns of `a` beside the first b_columns of `b`: where they lie if they do so already, else in `both`,
/// which has space for one vector more. Rows of both are whole vectors.
inline ConstBlock beside(ConstBlock a, std::int64_t a_columns, ConstBlock b, std::int64_t b_columns, std::int64_t rows,
                         Block both) {
  if (a.stride == b.stride && b.data == a.data + a_columns) return a;
  const FloatTag d;
  for (std::int64_t i = 0; i < rows; ++i) {  // what spills over the end of a part is written later
    for (std::int64_t j = 0; j < a_columns; j += lanes) hn::StoreU(hn::LoadU(d, a.row(i) + j), d, both.row(i) + j);
    for (std::int64_t j = 0; j < b_columns; j += lanes)
      hn::StoreU(hn::LoadU(d, b.row(i) + j), d, both.row(i) + a_columns + j);
  }
  return both;
}

/// Rows `begin` and on of V vectors of the product, R at a time up to the last whole tile before `end`, each tile
/// handed to finish(i, j, sum); returns the next row. Works on copies, which no store can change, so that addresses
/// stay in registers.
template <int R, int V, class Finish>
HWY_NOINLINE std::int64_t low_rank_tiles(const LowRank& shared, std::int64_t j, std::int64_t begin, std::int64_t end,
                                         const Finish& shared_finish) {
  const FloatTag d;
  const LowRank p = shared;
  const Finish finish = shared_finish;
  for (; begin + R <= end; begin += R) {
    FloatVector sum[R][V];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] = hn::Zero(d);
    const float* a = p.left.row(begin);
    const float* b = p.right.data + j;
    for (std::int64_t k = 0; k < p.rank; ++k, ++a, b += p.right.stride) {
      FloatVector row[V];
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) row[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const FloatVector factor = hn::Set(d, a[r * p.left.stride]);
#pragma GCC unroll 8
        for (int v = 0; v < V; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
      }
    }
    finish(begin, j, sum);
  }
  return begin;
}

template <int R, int V, class Finish>
HWY_INLINE void low_rank_panel(const LowRank& p, std::int64_t j, std::int64_t begin, std::int64_t end,
                               const Finish& finish) {
  begin = low_rank_tiles<R, V>(p, j, begin, end, finish);
  if constexpr (R > 1)
    if (begin < end) low_rank_panel<(R > 2 ? (R + 1) / 2 : 1), V>(p, j, begin, end, finish);
}

/// Rows begin … end of the product in panels of up to four vectors, as many rows at a time as the registers hold.
/// Panels go from the last to the first and rows ascend: a finish that stores whole vectors may spill over the end of a
/// row, because what lies there is written later.
template <class Finish>
void low_rank(const LowRank& p, std::int64_t begin, std::int64_t end, const Finish& finish) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
  constexpr int registers = 24;
#else
  constexpr int registers = 12;
#endif
  std::int64_t vectors = p.n / lanes;
  for (std::int64_t panels = (vectors + 3) / 4; panels > 0; --panels) {
    const std::int64_t width = (vectors + panels - 1) / panels;
    vectors -= width;
    switch (width) {
      case 1: low_rank_panel<8, 1>(p, vectors * lanes, begin, end, finish); break;
      case 2: low_rank_panel<registers / 2, 2>(p, vectors * lanes, begin, end, finish); break;
      case 3: low_rank_panel<registers / 3, 3>(p, vectors * lanes, begin, end, finish); break;
      default: low_rank_panel<registers / 4, 4>(p, vectors * lanes, begin, end, finish); break;
    }
  }
}

/// C = end(i, begin(i, j) + A·B) by rows i, for B [k, n] of so few rows that they stay in registers. `a` has rows of
/// whole vectors; what lies behind its k numbers is multiplied by zero.
template <class Begin, class End>
HWY_INLINE void multiply_by_few(ProductSize size, ConstBlock a, ConstBlock b, Block c, const Begin& begin,
                                const End& end) {
  const FloatTag d;
  constexpr std::int64_t depth = lanes < 8 ? lanes : 8;
  for (std::int64_t j = 0; j < size.n; j += lanes) {
    std::int64_t first = 0;
    do {
      FloatVector row[depth];
#pragma GCC unroll 8
      for (std::int64_t k = 0; k < depth; ++k)
        row[k] = first + k < size.k ? hn::LoadU(d, b.row(first + k) + j) : hn::Zero(d);
      const bool last = first + depth >= size.k;
      for (std::int64_t i = 0; i < size.m; ++i) {
        float* const to = c.row(i) + j;
        FloatVector sum = first == 0 ? begin(i, j) : hn::LoadU(d, to), odd = hn::Zero(d);
        if (size.k > 0) {
          const float* const factors = a.row(i) + first;
#pragma GCC unroll 8
          for (std::int64_t k = 0; k < depth; k += 2) {
            sum = hn::MulAdd(hn::Set(d, factors[k]), row[k], sum);
            if (k + 1 < depth) odd = hn::MulAdd(hn::Set(d, factors[k + 1]), row[k + 1], odd);
          }
        }
        sum = hn::Add(sum, odd);
        hn::StoreU(last ? end(i, sum) : sum, d, to);
      }
      first += depth;
    } while (first < size.k);
  }
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
