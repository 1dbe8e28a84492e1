// Backward through the layers of a perceptron, a chunk of rows at a time.
#if defined(STEIN_INFERENCE_FUSED_MLP_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_MLP_BACKWARD_INL_H_
#undef STEIN_INFERENCE_FUSED_MLP_BACKWARD_INL_H_
#else
#define STEIN_INFERENCE_FUSED_MLP_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <stein/inference/fused/mlp_chunk-inl.h>
#include <cstdint>
#include <span>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

/// The transpose of sum_rows: each row of the gradient is the sum of the slopes of the batch rows that have its one.
template <int V>
void gather_rows(const float* slope, std::int64_t slope_stride, std::span<const std::int32_t> starts,
                 const std::int32_t* rows, bool add, float* gradient, std::int64_t stride) {
  const FloatTag d;
  for (std::size_t input = 0; input + 1 < starts.size(); ++input, gradient += stride) {
    FloatVector sum[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[v] = add ? hn::LoadU(d, gradient + v * lanes) : hn::Zero(d);
    for (std::int32_t place = starts[input]; place < starts[input + 1]; ++place) {
      const float* const row = slope + rows[place] * slope_stride;
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[v] = hn::Add(sum[v], hn::LoadU(d, row + v * lanes));
    }
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) hn::StoreU(sum[v], d, gradient + v * lanes);
  }
}

struct GatherPanels {
  const float* slope;
  std::int64_t slope_stride;
  std::span<const std::int32_t> starts;
  const std::int32_t* rows;
  bool add;
  float* gradient;
  std::int64_t stride;
  template <int V>
  void operator()(std::int64_t j) const {
    gather_rows<V>(slope + j, slope_stride, starts, rows, add, gradient + j, stride);
  }
};

/// sums (+)= column sums of the slopes.
struct ColumnSumPanels {
  const float* slope;
  std::int64_t rows, stride;
  bool add;
  float* sums;
  template <int V>
  void operator()(std::int64_t j) const {
    const FloatTag d;
    FloatVector sum[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[v] = add ? hn::LoadU(d, sums + j + v * lanes) : hn::Zero(d);
    for (std::int64_t i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[v] = hn::Add(sum[v], hn::LoadU(d, slope + i * stride + j + v * lanes));
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) hn::StoreU(sum[v], d, sums + j + v * lanes);
  }
};

/// slope ← slope ∘ a′, from the activated values h: 1 where h > 0 for ReLU, 1 − h² for tanh.
HWY_INLINE void multiply_slopes(Activation activation, const float* h, float* slope, std::int64_t size) {
  const FloatTag d;
  for (std::int64_t q = 0; q < size; q += lanes) {
    const FloatVector value = hn::LoadU(d, h + q), s = hn::LoadU(d, slope + q);
    if (activation == Activation::relu)
      hn::StoreU(hn::IfThenElseZero(hn::Gt(value, hn::Zero(d)), s), d, slope + q);
    else
      hn::StoreU(hn::Mul(s, hn::NegMulAdd(value, value, hn::Set(d, 1.0f))), d, slope + q);
  }
}

/// Gradients of a layer with fewer outputs than lanes: computed in whole vectors, then brought into its own shape.
void narrow_gradient(const MlpPlan::Layer& layer, const ChunkInputs& inputs, const float* below,
                     std::int64_t below_stride, std::int64_t rows, bool add, const Workspace& work, float* gradient) {
  const auto place = [&](float* target, float value) { *target = add ? *target + value : value; };
  float* const wide = work.gradients;
  for_panels(lanes, ColumnSumPanels{work.slope(), rows, lanes, false, wide});
  for (std::int64_t k = 0; k < layer.outputs; ++k) place(gradient + layer.bias + k, wide[k]);
  float* const weight = gradient + layer.weight;
  if (below == nullptr) {
    for_panels(lanes, GatherPanels{work.slope(), lanes, inputs.starts, inputs.rows, false, wide, lanes});
    for (std::int64_t i = 0; i < layer.inputs; ++i)
      for (std::int64_t k = 0; k < layer.outputs; ++k) place(weight + i * layer.outputs + k, wide[i * lanes + k]);
    return;
  }
  const bool is_input = below == inputs.dense;  // what lies between its rows is somebody else's
  if (below_stride != padded(layer.inputs) || (is_input && layer.inputs != below_stride)) {
    product<Start::zero>({.m = layer.inputs,
                          .n = lanes,
                          .k = rows,
                          .a = {below, 1, below_stride},
                          .b = work.slope(),
                          .b_stride = lanes,
                          .c = wide,
                          .c_stride = lanes});
    for (std::int64_t i = 0; i < layer.inputs; ++i)
      for (std::int64_t k = 0; k < layer.outputs; ++k) place(weight + i * layer.outputs + k, wide[i * lanes + k]);
    return;
  }
  product<Start::zero>({.m = layer.outputs,
                        .n = below_stride,
                        .k = rows,
                        .a = {work.slope(), 1, lanes},
                        .b = below,
                        .b_stride = below_stride,
                        .c = wide,
                        .c_stride = below_stride});
  for (std::int64_t i = 0; i < layer.inputs; ++i)
    for (std::int64_t k = 0; k < layer.outputs; ++k) place(weight + i * layer.outputs + k, wide[k * below_stride + i]);
}

/// Gradients of one layer from the slopes of its outputs: `add` to what earlier chunks left, or write.
void layer_gradient(const MlpPlan::Layer& layer, const ChunkInputs& inputs, const float* below,
                    std::int64_t below_stride, std::int64_t rows, bool add, const Workspace& work, float* gradient) {
  if (layer.stride < lanes) return narrow_gradient(layer, inputs, below, below_stride, rows, add, work, gradient);
  const std::int64_t width = layer.stride;
  float* const weight = gradient + layer.weight;
  for_panels(width, ColumnSumPanels{work.slope(), rows, width, add, gradient + layer.bias});
  if (below == nullptr)
    return for_panels(width, GatherPanels{work.slope(), width, inputs.starts, inputs.rows, add, weight, width});
  const Product p{.m = layer.inputs,
                  .n = width,
                  .k = rows,
                  .a = {below, 1, below_stride},
                  .b = work.slope(),
                  .b_stride = width,
                  .c = weight,
                  .c_stride = width};
  add ? gradient_product<Start::add_to_c>(p) : gradient_product<Start::zero>(p);
}

/// All layers, from the slopes of the outputs; `transposed` are the weights turned over.
void backward(const MlpPlan& plan, const float* transposed, const ChunkInputs& inputs, std::int64_t rows, bool add,
              Workspace& work, float* gradient) {
  for (std::int64_t l = static_cast<std::int64_t>(plan.layers.size()) - 1; l >= 0; --l) {
    const MlpPlan::Layer& layer = plan.layers[l];
    const float* const below = l == 0 ? inputs.dense : work.activation(plan, l - 1);
    layer_gradient(layer, inputs, below, l == 0 ? inputs.stride : padded(layer.inputs), rows, add, work, gradient);
    if (l == 0) return;
    const std::int64_t width = padded(layer.inputs);
    layer_product<Start::zero>({.m = rows,
                                .n = width,
                                .k = layer.outputs,
                                .a = {work.slope(), padded(layer.outputs), 1},
                                .b = transposed + layer.transposed,
                                .b_stride = width,
                                .c = work.next_slope(),
                                .c_stride = width});
    multiply_slopes(plan.spec.activation, below, work.next_slope(), rows * width);
    work.swap_slopes();
  }
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
