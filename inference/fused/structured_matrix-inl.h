// W = P Λ₁ C Λ₂ Qᵀ for one matrix of one particle: what its two directions share, and the way from C to W. Included
// once a target by files that Highway's foreach_target compiles.
//
// Compact WY (Schreiber & Van Loan 1989) with columns V = [v₁ … v_K], Y = [w₁ … w_K]: P = I − V T Vᵀ, Q = I − Y S Yᵀ,
// T⁻¹ the strict upper triangle of VᵀV plus half its diagonal, S⁻¹ that of YᵀY. With A = Λ₁CΛ₂, Z = T VᵀA, R = (A − VZ)
// Y Sᵀ:
//   W = A − V Z − R Yᵀ.
// A is never written: its products are those of C with rows scaled before and after. What is [·, K] has rows of whole
// vectors, so that every product runs along K or along padded columns.
#if defined(STEIN_INFERENCE_FUSED_STRUCTURED_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_STRUCTURED_MATRIX_INL_H_
#undef STEIN_INFERENCE_FUSED_STRUCTURED_MATRIX_INL_H_
#else
#define STEIN_INFERENCE_FUSED_STRUCTURED_MATRIX_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <stein/inference/fused/low_rank_update-inl.h>
#include <stein/inference/fused/scratch.h>
#include <stein/inference/fused/structured_matrix.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

using fused::MatrixParts;
using fused::MatrixShape;

/// Cuts memory into pieces on cache lines; without memory it only counts.
class Pieces {
 public:
  explicit Pieces(float* memory) : memory_(memory) {}
  Block take(std::int64_t rows, std::int64_t stride) {
    float* const piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += padded_columns(rows * stride);
    return {piece, stride};
  }
  std::int64_t used() const { return used_; }

 private:
  float* memory_;
  std::int64_t used_ = 0;
};

/// What forward leaves for pullback. Padding is zero from the start and stays so.
struct Kept {
  Kept(const MatrixShape& shape, float* memory) : left(padded(shape.left)), right(padded(shape.right)) {
    Pieces pieces(memory);
    columns = padded(shape.columns);
    scale_left = pieces.take(shape.rows, 1).data;
    scale_right = pieces.take(columns, 1).data;
    v_r = pieces.take(shape.rows, left + right);
    zt_ys = pieces.take(shape.columns, left + right);
    y = pieces.take(shape.columns, right);
    z_yt = pieces.take(shape.left + shape.right, columns);
    yt = z_yt.from_row(shape.left);
    t = pieces.take(shape.left, left);
    yt_zt = pieces.take(shape.right, left);
    s_transposed = pieces.take(shape.right, right);
    size = pieces.used();
  }

  Block v() const { return v_r; }
  Block r() const { return v_r.from_column(left); }
  Block zt() const { return zt_ys; }
  Block ys() const { return zt_ys.from_column(left); }
  Block z() const { return z_yt; }

  std::int64_t left, right, columns;  ///< K of the sides and columns of W in whole vectors
  std::int64_t size;
  float *scale_left, *scale_right;
  Block v_r;    ///< V beside R [rows, left + right]
  Block zt_ys;  ///< Zᵀ beside Y S [columns, left + right]
  Block y;      ///< Y [columns, right]
  Block yt;
  Block z_yt;          ///< Z above Yᵀ [left + right, columns], K rows each; pullback puts F in the place of Z
  Block t;             ///< T [left, left]
  Block yt_zt;         ///< YᵀZᵀ [right, left]
  Block s_transposed;  ///< Sᵀ [right, right]
};

/// Memory of one call: only its own thread's, and only until its end.
struct Working {
  Working(const MatrixShape& shape, const Kept& kept, float* memory) {
    Pieces pieces(memory);
    const std::int64_t k = std::max(kept.left, kept.right), long_side = std::max(shape.rows, shape.columns);
    square = pieces.take(k, k);
    turned = pieces.take(k, k);
    edge_rows = std::min(shape.rows, (kept.columns - 1) / shape.columns);
    if (kept.columns == shape.columns) edge_rows = 0;
    edge_core = pieces.take(edge_rows, kept.columns);
    edge_result = pieces.take(edge_rows, kept.columns);
    row_sums = pieces.take(shape.rows, lanes);
    scaled = pieces.take(long_side, k);
    product = pieces.take(long_side, k);
    pair = pieces.take(shape.rows, shape.left + shape.right);
    pieces.take(1, lanes);
    gt_vr = pieces.take(shape.columns, kept.left + kept.right);
    g_zt_e = pieces.take(shape.rows, kept.left + kept.right);
    cross = pieces.take(shape.right, kept.left + kept.right);
    column_sums = pieces.take(1, kept.columns);
    size = pieces.used();
  }

  std::int64_t size;
  std::int64_t edge_rows;  ///< rows at the end of C from where a whole vector reaches past its last number
  Block edge_core, edge_result;
  Block square, turned, scaled, product;
  Block pair;    ///< V beside R or E for one product [rows, K + K]
  Block gt_vr;   ///< GᵀV beside GᵀR [columns, left + right]
  Block g_zt_e;  ///< G Zᵀ beside E = G Y S [rows, left + right]
  Block cross;   ///< EᵀV beside EᵀR [right, left + right]
  Block row_sums, column_sums;
};

struct StructuredScratch;

inline Working working_memory(const MatrixShape& shape, const Kept& kept) {
  return {shape, kept, fused::scratch<StructuredScratch>(Working(shape, kept, nullptr).size)};
}

/// to[i] = factors[i] · from[i] for m rows of n numbers, whole vectors.
inline void scale_rows(const float* factors, ConstBlock from, std::int64_t m, std::int64_t n, Block to) {
  const FloatTag d;
  for (std::int64_t i = 0; i < m; ++i) {
    const FloatVector factor = hn::Set(d, factors[i]);
    for (std::int64_t j = 0; j < n; j += lanes)
      hn::StoreU(hn::Mul(factor, hn::LoadU(d, from.row(i) + j)), d, to.row(i) + j);
  }
}

/// What a product by few rows starts from or ends in where nothing is to be done.
constexpr auto zero = [](std::int64_t, std::int64_t) HWY_ATTR { return hn::Zero(FloatTag()); };
constexpr auto same = [](std::int64_t, FloatVector sum) HWY_ATTR { return sum; };

inline auto scaled_by(const float* factors) {
  return [factors](std::int64_t i, FloatVector sum) HWY_ATTR { return hn::Mul(hn::Set(FloatTag(), factors[i]), sum); };
}

/// exp of `size` logarithms, or ones where they are absent; what lies behind is left as it is.
inline void fill_scales(const float* logarithms, std::int64_t size, float* scales) {
  if (logarithms == nullptr) {
    std::fill_n(scales, size, 1.0f);
    return;
  }
  const FloatTag d;
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) hn::StoreU(hn::Exp(d, hn::LoadU(d, logarithms + i)), d, scales + i);
  HWY_ALIGN float rest[lanes] = {};
  std::copy_n(logarithms + i, size - i, rest);
  hn::Store(hn::Exp(d, hn::Load(d, rest)), d, rest);
  std::copy_n(rest, size - i, scales + i);
}

/// The index of the first of k reflectors, their squared lengths on the diagonal of `gram`, that has no direction, or
/// −1.
inline std::int64_t first_degenerate(Block gram, std::int64_t k) {
  for (std::int64_t i = 0; i < k; ++i)
    if (const float square = gram.row(i)[i]; !(square >= fused::least_square && square <= fused::largest_square))
      return i;
  return -1;
}

/// T from VᵀV [k, n], by rows from the last to the first.
inline void invert_triangle(Block gram, std::int64_t k, std::int64_t n, Block t) {
  const FloatTag d;
  for (std::int64_t i = k - 1; i >= 0; --i) {
    const FloatVector pivot = hn::Set(d, 2.0f / gram.row(i)[i]);
    for (std::int64_t c = 0; c < n; c += lanes) {
      const auto diagonal = hn::Eq(hn::Iota(d, static_cast<float>(c)), hn::Set(d, static_cast<float>(i)));
      FloatVector sum = hn::IfThenElseZero(diagonal, hn::Set(d, 1.0f));
      for (std::int64_t j = k - 1; j > i; --j)
        sum = hn::NegMulAdd(hn::Set(d, gram.row(i)[j]), hn::LoadU(d, t.row(j) + c), sum);
      hn::StoreU(hn::Mul(pivot, sum), d, t.row(i) + c);
    }
  }
}

/// `count` rows of n numbers in rows of whole vectors with zeros behind.
inline void copy_edge(const float* from, std::int64_t stride, std::int64_t n, std::int64_t count, Block to) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(from + i * stride, n, to.row(i));
    std::fill_n(to.row(i) + n, to.stride - n, 0.0f);
  }
}

/// V, T and Zᵀ = Λ₂ Cᵀ (Λ₁V) Tᵀ. Returns the index of the first reflector without a direction, or −1.
inline std::int64_t reflect_left(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                                 const Working& own) {
  const std::int64_t p = shape.rows, d = shape.columns, k = shape.left, n = kept.left;
  const Block square{own.square.data, n}, turned{own.turned.data, n}, scaled{own.scaled.data, n},
      product{own.product.data, n};
  transpose({parts.reflectors_left, p}, k, p, kept.v());
  multiply<Start::zero>({k, n, p}, by_rows({parts.reflectors_left, p}), kept.v(), square);
  if (const std::int64_t bad = first_degenerate(square, k); bad >= 0) return bad;
  invert_triangle(square, k, n, kept.t);
  transpose_padded(kept.t, k, k, n, turned);
  scale_rows(kept.scale_left, kept.v(), p, n, scaled);
  multiply<Start::zero>({d, n, p}, by_columns({parts.core, d}), scaled, product);
  multiply_by_few({d, n, k}, product, turned, kept.zt(), zero, scaled_by(kept.scale_right));
  transpose(kept.zt(), d, k, kept.z());
  return -1;
}

/// Y, Yᵀ, Y S, Sᵀ and C (Λ₂ Y Sᵀ) in the place of R. Returns the index of the first reflector without a direction,
/// or −1.
inline std::int64_t reflect_right(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                                  const Working& own) {
  const std::int64_t p = shape.rows, d = shape.columns, k = shape.right, n = kept.right;
  const Block square{own.square.data, n}, s{own.product.data, n}, scaled{own.scaled.data, n};
  transpose({parts.reflectors_right, d}, k, d, kept.y);
  for (std::int64_t i = 0; i < k; ++i) std::copy_n(parts.reflectors_right + i * d, d, kept.yt.row(i));
  multiply<Start::zero>({k, n, d}, by_rows({parts.reflectors_right, d}), kept.y, square);
  if (const std::int64_t bad = first_degenerate(square, k); bad >= 0) return bad;
  invert_triangle(square, k, n, s);
  transpose_padded(s, k, k, n, kept.s_transposed);
  multiply_by_few({d, n, k}, kept.y, s, kept.ys(), zero, same);
  multiply_by_few({d, n, k}, kept.y, kept.s_transposed, scaled, zero, scaled_by(kept.scale_right));
  multiply<Start::zero>({p, n, d}, by_rows({parts.core, d}), scaled, kept.r());
  return -1;
}

/// R = Λ₁ C (Λ₂ Y Sᵀ) − V (Z Y Sᵀ) and YᵀZᵀ.
inline void finish_right(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                         const Working& own) {
  const std::int64_t p = shape.rows, d = shape.columns, k = shape.right, n = kept.right;
  const Block z_y_st{own.square.data, n};
  multiply<Start::zero>({k, kept.left, d}, by_rows({parts.reflectors_right, d}), kept.zt(), kept.yt_zt);
  multiply<Start::zero>({shape.left, n, k}, by_columns(kept.yt_zt), kept.s_transposed, z_y_st);
  const auto begin = [scale = kept.scale_left, r = kept.r()](std::int64_t i, std::int64_t j) HWY_ATTR {
    const FloatTag f;
    return hn::Neg(hn::Mul(hn::Set(f, scale[i]), hn::LoadU(f, r.row(i) + j)));
  };
  const auto end = [](std::int64_t, FloatVector sum) HWY_ATTR { return hn::Neg(sum); };
  multiply_by_few({p, n, shape.left}, kept.v(), z_y_st, kept.r(), begin, end);
}

/// The end of W = Λ₁CΛ₂ − (V Z + R Yᵀ) for tiles of the bracket; row `first` of it is row 0 of `core` and `to`.
struct WriteWeights {
  const float *scale_left, *scale_right;
  ConstBlock core;
  Block to;
  std::int64_t first;

  template <int R, int V>
  HWY_INLINE void operator()(std::int64_t i, std::int64_t j, const FloatVector (&sum)[R][V]) const {
    const FloatTag d;
    const float* c = core.row(i - first) + j;
    float* w = to.row(i - first) + j;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, c += core.stride, w += to.stride) {
      const FloatVector scale = hn::Set(d, scale_left[i + r]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        const FloatVector scaled = hn::Mul(scale, hn::LoadU(d, c + v * lanes));
        hn::StoreU(hn::MulSub(scaled, hn::LoadU(d, scale_right + j + v * lanes), sum[r][v]), d, w + v * lanes);
      }
    }
  }
};

/// Writes W, padding included, and what pullback needs into `memory`. Returns the index of the first reflector without
/// a direction, those of the right side counted on from those of the left, or −1.
inline std::int64_t forward_matrix(const MatrixShape& shape, const MatrixParts<const float>& parts, float* memory,
                                   float* weight, std::int64_t weight_stride) {
  const std::int64_t p = shape.rows, d = shape.columns;
  const Kept kept(shape, memory);
  const Working own = working_memory(shape, kept);
  fill_scales(parts.log_scale_left, p, kept.scale_left);
  fill_scales(parts.log_scale_right, d, kept.scale_right);
  // C is read row by row first, while it is far away.
  if (shape.right > 0)
    if (const std::int64_t bad = reflect_right(shape, parts, kept, own); bad >= 0) return shape.left + bad;
  if (shape.left > 0)
    if (const std::int64_t bad = reflect_left(shape, parts, kept, own); bad >= 0) return bad;
  if (shape.right > 0) finish_right(shape, parts, kept, own);

  const std::int64_t rank = shape.left + shape.right;
  const LowRank correction{.left = beside(kept.v(), shape.left, kept.r(), shape.right, p, own.pair),
                           .right = kept.z_yt,
                           .rank = rank,
                           .n = kept.columns};
  const std::int64_t edge = p - own.edge_rows;
  low_rank(correction, 0, edge,
           WriteWeights{kept.scale_left, kept.scale_right, {parts.core, d}, {weight, weight_stride}, 0});
  for (std::int64_t i = 0; i < edge && weight_stride > kept.columns; ++i)
    std::fill_n(weight + i * weight_stride + kept.columns, weight_stride - kept.columns, 0.0f);

  copy_edge(parts.core + edge * d, d, d, own.edge_rows, own.edge_core);
  low_rank(correction, edge, p, WriteWeights{kept.scale_left, kept.scale_right, own.edge_core, own.edge_result, edge});
  for (std::int64_t i = edge; i < p; ++i) {
    std::copy_n(own.edge_result.row(i - edge), d, weight + i * weight_stride);
    std::fill_n(weight + i * weight_stride + d, weight_stride - d, 0.0f);
  }
  return -1;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
