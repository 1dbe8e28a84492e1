// A single row through the perceptrons of all particles: what a decision costs.
#if defined(STEIN_INFERENCE_FUSED_MLP_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_MLP_ROW_INL_H_
#undef STEIN_INFERENCE_FUSED_MLP_ROW_INL_H_
#else
#define STEIN_INFERENCE_FUSED_MLP_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <stein/inference/fused/mlp_forward-inl.h>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

struct RowScratch;

/// Which of up to 64 values are not zero, one bit each.
HWY_INLINE std::uint64_t nonzero_bits(const float* values, std::int64_t size) {
  std::uint64_t bits = 0;
  std::int64_t q = 0;
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  for (; q + lanes <= size; q += lanes) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, values + q), hn::Zero(d)), bytes);
    bits |= (std::uint64_t{bytes[0]} | std::uint64_t{bytes[1]} << 8) << q;
  }
#endif
  for (; q < size; ++q) bits |= std::uint64_t{values[q] != 0} << q;
  return bits;
}

/// One row through one layer: a sum of weight rows, skipping those of inputs that are zero (half of them after ReLU).
template <int V>
HWY_INLINE void row_panel(const float* weights, const float* bias, std::int64_t stride, const float* values,
                          std::int64_t inputs, std::int64_t j, float* output) {
  const FloatTag d;
  FloatVector sum[V];
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) sum[v] = hn::LoadU(d, bias + j + v * lanes);
  for (std::int64_t first = 0; first < inputs; first += 64) {
    for (std::uint64_t bits = nonzero_bits(values + first, std::min<std::int64_t>(64, inputs - first)); bits != 0;
         bits &= bits - 1) {
      const std::int64_t k = first + std::countr_zero(bits);
      const float* const row = weights + k * stride + j;
      const FloatVector factor = hn::Set(d, values[k]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[v] = hn::MulAdd(factor, hn::LoadU(d, row + v * lanes), sum[v]);
    }
  }
#pragma GCC unroll 8
  for (int v = 0; v < V; ++v) hn::StoreU(sum[v], d, output + j + v * lanes);
}

struct RowPanels {
  const float *weights, *bias;
  std::int64_t stride;
  const float* values;
  std::int64_t inputs;
  float* output;
  template <int V>
  void operator()(std::int64_t j) const {
    row_panel<V>(weights, bias, stride, values, inputs, j, output);
  }
};

/// A layer narrower than a vector: dot products with its columns.
HWY_INLINE void narrow_row(const float* weights, const float* bias, std::int64_t outputs, const float* values,
                           std::int64_t inputs, float* output) {
  std::int64_t k = 0;
  std::copy_n(bias, outputs, output);
#if HWY_TARGET != HWY_SCALAR
  const FloatTag d;
  if (outputs == 1 || outputs == 2) {
    FloatVector sum0 = hn::Zero(d), sum1 = hn::Zero(d);
    for (; k + lanes <= inputs; k += lanes) {
      const FloatVector value = hn::LoadU(d, values + k);
      FloatVector column0, column1 = hn::Zero(d);
      if (outputs == 2)
        hn::LoadInterleaved2(d, weights + 2 * k, column0, column1);
      else
        column0 = hn::LoadU(d, weights + k);
      sum0 = hn::MulAdd(value, column0, sum0);
      sum1 = hn::MulAdd(value, column1, sum1);
    }
    output[0] += hn::GetLane(hn::SumOfLanes(d, sum0));
    if (outputs == 2) output[1] += hn::GetLane(hn::SumOfLanes(d, sum1));
  }
#endif
  for (; k < inputs; ++k)
    for (std::int64_t j = 0; j < outputs; ++j) output[j] += values[k] * weights[k * outputs + j];
}

/// A layer narrower than a vector of a row given by the positions of its ones.
HWY_INLINE void narrow_one_hot_row(const float* weights, const float* bias, std::int64_t outputs,
                                   std::span<const std::int32_t> ones, float* output) {
  std::copy_n(bias, outputs, output);
  for (const std::int32_t index : ones)
    for (std::int64_t j = 0; j < outputs; ++j) output[j] += weights[index * outputs + j];
}

/// What one layer of every particle reads and writes: numbers, or the positions of ones where `below` is null.
struct LayerRows {
  MatrixView<const std::int32_t> ones;  ///< [1, A]
  const float* below;
  std::int64_t below_stride;  ///< from particle to particle; 0 where all read the same row
  float* output;
  std::int64_t output_stride;
};

void layer_rows(const MlpPlan::Layer& layer, const MatrixView<const float>& weights, const LayerRows& rows) {
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    const float* const own = weights.data + i * weights.stride;
    const float *const weight = own + layer.weight, *const bias = own + layer.bias;
    const float* const below = rows.below + (rows.below != nullptr ? i * rows.below_stride : 0);
    float* const output = rows.output + i * rows.output_stride;
    if (layer.stride >= lanes && rows.below == nullptr)
      for_panels(layer.stride, SumPanels<false>{weight, bias, layer.stride, rows.ones, output, layer.stride});
    else if (layer.stride >= lanes)
      for_panels(layer.stride, RowPanels{weight, bias, layer.stride, below, layer.inputs, output});
    else if (rows.below == nullptr)
      narrow_one_hot_row(weight, bias, layer.outputs, rows.ones.row(0), output);
    else
      narrow_row(weight, bias, layer.outputs, below, layer.inputs, output);
  }
}

/// One input row through the networks of all particles, a layer of all at a time: they do not wait for each other.
/// Particle i's outputs go to outputs + i * stride.
void forward_row(const MlpPlan& plan, const MatrixView<const float>& weights, const Inputs<float>& inputs,
                 std::int64_t row, float* outputs, std::int64_t stride) {
  std::int64_t widest = 0;
  for (const MlpPlan::Layer& layer : plan.layers) widest = std::max(widest, padded(layer.outputs));
  float* values = fused::scratch<RowScratch>(2 * weights.rows * widest);
  float* next = values + weights.rows * widest;
  LayerRows rows{.ones = {}, .below = nullptr, .below_stride = 0, .output = next, .output_stride = widest};
  if (inputs.one_hot())
    rows.ones = inputs.ones.block(row, 1);
  else
    rows.below = inputs.dense.row(row).data();
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    rows.output = next;
    layer_rows(plan.layers[l], weights, rows);
    if (l + 1 < plan.layers.size()) activate(plan.spec.activation, next, weights.rows * widest);
    std::swap(values, next);
    rows.below = values;
    rows.below_stride = widest;
  }
  for (std::int64_t i = 0; i < weights.rows; ++i)
    std::copy_n(values + i * widest, plan.spec.outputs, outputs + i * stride);
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
