// From the gradient of W = P Λ₁ C Λ₂ Qᵀ to those of its parts, for one matrix of one particle. Included once a target
// by files that Highway's foreach_target compiles.
//
// With V, Y, T, S, Z, R, A of structured_matrix-inl.h, from the gradient G of W, E = G Y S and F = Tᵀ(VᵀG − VᵀE Yᵀ):
//   dA = G − V F − E Yᵀ,  dC = Λ₁ dA Λ₂,  dlog Λ₁ = Σ over columns of C∘dC,  dlog Λ₂ = Σ over rows of C∘dC,
//   dV = −G Zᵀ − A Fᵀ + E (YᵀZᵀ) + V mirror(F Zᵀ),
//   dY = −GᵀR − AᵀE + Zᵀ (VᵀE) + Y mirror(EᵀR),   mirror(X): the upper triangle of X, mirrored.
// The last terms are the ways through T⁻¹ and S⁻¹: ∂T⁻¹ = −Tᵀ ∂T Tᵀ = F Zᵀ for ∂T = −(VᵀG − VᵀE Yᵀ) (VᵀA)ᵀ.
#if defined(STEIN_INFERENCE_FUSED_STRUCTURED_PULLBACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_STRUCTURED_PULLBACK_INL_H_
#undef STEIN_INFERENCE_FUSED_STRUCTURED_PULLBACK_INL_H_
#else
#define STEIN_INFERENCE_FUSED_STRUCTURED_PULLBACK_INL_H_
#endif

#include <stein/inference/fused/structured_matrix-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

/// Starts a product by few rows at −factors[i] · values[i] − others[i].
inline auto negated_sum(const float* factors, ConstBlock values, ConstBlock others) {
  return [=](std::int64_t i, std::int64_t j) HWY_ATTR {
    const FloatTag d;
    return hn::NegMulSub(hn::Set(d, factors[i]), hn::LoadU(d, values.row(i) + j), hn::LoadU(d, others.row(i) + j));
  };
}

/// Starts it at what is there, or at its negative.
inline auto row_of(ConstBlock values) {
  return [=](std::int64_t i, std::int64_t j) HWY_ATTR { return hn::LoadU(FloatTag(), values.row(i) + j); };
}
inline auto negated_row_of(ConstBlock values) {
  return [=](std::int64_t i, std::int64_t j) HWY_ATTR { return hn::Neg(hn::LoadU(FloatTag(), values.row(i) + j)); };
}

/// Overwrites `square` [k, n] with its upper triangle mirrored; `turned` [k, n] is working memory.
inline void mirror_upper(Block square, std::int64_t k, std::int64_t n, Block turned) {
  const FloatTag d;
  transpose_padded(square, k, k, n, turned);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t c = 0; c < n; c += lanes) {
      const auto upper = hn::Ge(hn::Iota(d, static_cast<float>(c)), hn::Set(d, static_cast<float>(i)));
      const FloatVector own = hn::LoadU(d, square.row(i) + c), mirrored = hn::LoadU(d, turned.row(i) + c);
      hn::StoreU(hn::IfThenElse(upper, own, mirrored), d, square.row(i) + c);
    }
  }
}

/// F, put in the place of Z, and the gradient of V.
inline void pull_left(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                      const Working& own, const MatrixParts<float>& gradient) {
  const std::int64_t p = shape.rows, d = shape.columns, k = shape.left, n = kept.left;
  const Block square{own.square.data, n}, turned{own.turned.data, n}, ft{own.scaled.data, n}, dv{own.product.data, n};
  // Fᵀ = (GᵀV − Y EᵀV) T; the bracket is left negated in the place of GᵀV.
  multiply_by_few({d, n, shape.right}, kept.y, own.cross, own.gt_vr, negated_row_of(own.gt_vr), same);
  multiply_by_few({d, n, k}, own.gt_vr, kept.t, ft, zero,
                  [](std::int64_t, FloatVector sum) HWY_ATTR { return hn::Neg(sum); });
  transpose(ft, d, k, kept.z());
  multiply<Start::zero>({k, n, d}, by_columns(ft), kept.zt(), square);
  mirror_upper(square, k, n, turned);
  scale_rows(kept.scale_right, ft, d, n, ft);
  multiply<Start::zero>({p, n, d}, by_rows({parts.core, d}), ft, dv);
  multiply_by_few({p, n, shape.right}, own.g_zt_e.from_column(kept.left), kept.yt_zt, dv,
                  negated_sum(kept.scale_left, dv, own.g_zt_e), same);
  multiply_by_few({p, n, k}, kept.v(), square, dv, row_of(dv), same);
  transpose(dv, p, k, {gradient.reflectors_left, p});
}

/// The gradient of Y.
inline void pull_right(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                       const Working& own, const MatrixParts<float>& gradient) {
  const std::int64_t p = shape.rows, d = shape.columns, k = shape.right, n = kept.right;
  const Block e = own.g_zt_e.from_column(kept.left), ev = own.cross, er = own.cross.from_column(kept.left);
  const Block turned{own.turned.data, n}, scaled{own.scaled.data, n}, dy{own.product.data, n};
  scale_rows(kept.scale_left, e, p, n, scaled);
  multiply<Start::zero>({d, n, p}, by_columns({parts.core, d}), scaled, dy);
  if (shape.left > 0) transpose_padded(ev, k, shape.left, n, turned);
  multiply_by_few({d, n, shape.left}, kept.zt(), turned, dy,
                  negated_sum(kept.scale_right, dy, own.gt_vr.from_column(kept.left)), same);
  mirror_upper(er, k, n, turned);
  multiply_by_few({d, n, k}, kept.y, er, dy, row_of(dy), same);
  transpose(dy, d, k, {gradient.reflectors_right, d});
}

/// The end of dC = Λ₁ (G − (V F + E Yᵀ)) Λ₂ for tiles of the inner bracket, row `first` of it being row 0 of `core`,
/// `g` and `to`; sums of C∘dC, a row's in one vector and a column's in one number.
struct WriteCoreGradient {
  const float *scale_left, *scale_right;
  ConstBlock core, g;
  Block to, row_sums;
  float* column_sums;
  std::int64_t first;

  template <int R, int V>
  HWY_INLINE void operator()(std::int64_t i, std::int64_t j, FloatVector (&sum)[R][V]) const {
    const FloatTag d;
    const float* c = core.row(i - first) + j;
    const float* slope = g.row(i - first) + j;
    float* dc = to.row(i - first) + j;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, c += core.stride, slope += g.stride, dc += to.stride) {
      const FloatVector scale = hn::Set(d, scale_left[i + r]);
      FloatVector row_sum = hn::Load(d, row_sums.row(i + r));
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) {
        const FloatVector da = hn::Sub(hn::LoadU(d, slope + v * lanes), sum[r][v]);
        const FloatVector scaled = hn::Mul(hn::Mul(da, scale), hn::LoadU(d, scale_right + j + v * lanes));
        hn::StoreU(scaled, d, dc + v * lanes);
        sum[r][v] = hn::Mul(scaled, hn::LoadU(d, c + v * lanes));
        row_sum = hn::Add(row_sum, sum[r][v]);
      }
      hn::Store(row_sum, d, row_sums.row(i + r));
    }
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      FloatVector column_sum = hn::Load(d, column_sums + j + v * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) column_sum = hn::Add(column_sum, sum[r][v]);
      hn::Store(column_sum, d, column_sums + j + v * lanes);
    }
  }
};

/// The gradients of C and of the scales.
inline void pull_core(const MatrixShape& shape, const MatrixParts<const float>& parts, const Kept& kept,
                      const Working& own, ConstBlock weight_gradient, const MatrixParts<float>& gradient) {
  const FloatTag f;
  const std::int64_t p = shape.rows, d = shape.columns, edge = p - own.edge_rows;
  const LowRank correction{
      .left = beside(kept.v(), shape.left, own.g_zt_e.from_column(kept.left), shape.right, p, own.pair),
      .right = kept.z_yt,
      .rank = shape.left + shape.right,
      .n = kept.columns};
  std::fill_n(own.row_sums.data, p * lanes, 0.0f);
  std::fill_n(own.column_sums.data, kept.columns, 0.0f);
  WriteCoreGradient finish{.scale_left = kept.scale_left,
                           .scale_right = kept.scale_right,
                           .core = {parts.core, d},
                           .g = weight_gradient,
                           .to = {gradient.core, d},
                           .row_sums = own.row_sums,
                           .column_sums = own.column_sums.data,
                           .first = 0};
  low_rank(correction, 0, edge, finish);

  copy_edge(parts.core + edge * d, d, d, own.edge_rows, own.edge_core);
  copy_edge(weight_gradient.row(edge), weight_gradient.stride, d, own.edge_rows, own.edge_result);
  finish.core = own.edge_core;
  finish.g = finish.to = own.edge_result;
  finish.first = edge;
  low_rank(correction, edge, p, finish);
  for (std::int64_t i = edge; i < p; ++i) std::copy_n(own.edge_result.row(i - edge), d, gradient.core + i * d);

  if (gradient.log_scale_right != nullptr) std::copy_n(own.column_sums.data, d, gradient.log_scale_right);
  if (gradient.log_scale_left != nullptr)
    for (std::int64_t i = 0; i < p; ++i)
      gradient.log_scale_left[i] = hn::GetLane(hn::SumOfLanes(f, hn::Load(f, own.row_sums.row(i))));
}

/// Writes the gradients of all parts, from what the last forward left in `memory`.
inline void pullback_matrix(const MatrixShape& shape, const MatrixParts<const float>& parts, float* memory,
                            const float* weight_gradient, std::int64_t weight_stride,
                            const MatrixParts<float>& gradient) {
  const Kept kept(shape, memory);
  const Working own = working_memory(shape, kept);
  const ConstBlock g{weight_gradient, weight_stride};
  const std::int64_t p = shape.rows, d = shape.columns, both = kept.left + kept.right;
  multiply<Start::zero>({p, both, d}, by_rows(g), kept.zt_ys, own.g_zt_e);
  multiply<Start::zero>({d, both, p}, by_columns(g), kept.v_r, own.gt_vr);
  multiply<Start::zero>({shape.right, both, d}, by_columns(kept.ys()), own.gt_vr, own.cross);
  if (shape.left > 0) pull_left(shape, parts, kept, own, gradient);
  if (shape.right > 0) pull_right(shape, parts, kept, own, gradient);
  pull_core(shape, parts, kept, own, g, gradient);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
