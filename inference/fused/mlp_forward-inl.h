// Forward through the layers of a perceptron, a chunk of rows at a time.
#if defined(STEIN_INFERENCE_FUSED_MLP_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_MLP_FORWARD_INL_H_
#undef STEIN_INFERENCE_FUSED_MLP_FORWARD_INL_H_
#else
#define STEIN_INFERENCE_FUSED_MLP_FORWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <stein/inference/fused/block-inl.h>
#include <stein/inference/fused/mlp_chunk-inl.h>
#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

/// Rows of a matrix narrower than a vector, spread out to whole vectors.
const float* widen(const float* weights, std::int64_t rows, std::int64_t columns, float* wide) {
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(weights + i * columns, columns, wide + i * lanes);
    std::fill(wide + i * lanes + columns, wide + (i + 1) * lanes, 0.0f);
  }
  return wide;
}

/// R rows of layer 0 given by the positions of their ones: sums of rows of the weight matrix, V vectors of them.
template <bool relu, int R, int V>
HWY_INLINE void sum_rows(const float* weights, const float* bias, std::int64_t stride,
                         const MatrixView<const std::int32_t>& indices, std::int64_t first, float* output,
                         std::int64_t output_stride) {
  const FloatTag d;
  FloatVector sum[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) sum[r][v] = hn::LoadU(d, bias + v * lanes);
  const std::int32_t* const index = indices.data + first * indices.stride;
  for (std::int64_t a = 0; a < indices.columns; ++a) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const float* const row = weights + index[r * indices.stride + a] * stride;
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] = hn::Add(sum[r][v], hn::LoadU(d, row + v * lanes));
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      if constexpr (relu) sum[r][v] = hn::Max(sum[r][v], hn::Zero(d));
      hn::StoreU(sum[r][v], d, output + (first + r) * output_stride + v * lanes);
    }
  }
}

template <bool relu>
struct SumPanels {
  const float *weights, *bias;
  std::int64_t stride;
  MatrixView<const std::int32_t> indices;
  float* output;
  std::int64_t output_stride;
  template <int V>
  void operator()(std::int64_t j) const {
    std::int64_t i = 0;
    if constexpr (V <= 4)  // two rows at once: enough sums in flight to hide the latency of an addition
      for (; i + 2 <= indices.rows; i += 2)
        sum_rows<relu, 2, V>(weights + j, bias + j, stride, indices, i, output + j, output_stride);
    for (; i < indices.rows; ++i)
      sum_rows<relu, 1, V>(weights + j, bias + j, stride, indices, i, output + j, output_stride);
  }
};

/// R rows of a layer with fewer outputs than lanes: dot products with the columns of its weights, `turned` [outputs,
/// padded(inputs)].
template <int R>
HWY_INLINE void narrow_tile(const float* values, std::int64_t stride, const float* turned, const float* bias,
                            std::int64_t outputs, float* output) {
  const FloatTag d;
  for (std::int64_t k = 0; k < outputs; ++k) {
    const float* const column = turned + k * stride;
    FloatVector sum[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[r] = hn::Zero(d);
    for (std::int64_t q = 0; q < stride; q += lanes) {
      const FloatVector weight = hn::LoadU(d, column + q);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r] = hn::MulAdd(hn::LoadU(d, values + r * stride + q), weight, sum[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) output[r * lanes + k] = bias[k] + hn::GetLane(hn::SumOfLanes(d, sum[r]));
  }
}

/// One layer with fewer outputs than lanes for rows of numbers below: output [rows, lanes], padding zero. What lies
/// between the rows of inputs is somebody else's and not read.
void forward_narrow(const MlpPlan::Layer& layer, const float* weights, const float* turned, const float* below,
                    std::int64_t below_stride, bool is_input, std::int64_t rows, float* output) {
  const std::int64_t width = padded(layer.inputs);
  const float* const bias = weights + layer.bias;
  std::fill(output, output + rows * lanes, 0.0f);
  if (below_stride != width || (is_input && layer.inputs != width)) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < layer.outputs; ++k) {
        float sum = bias[k];
        for (std::int64_t j = 0; j < layer.inputs; ++j) sum += below[i * below_stride + j] * turned[k * width + j];
        output[i * lanes + k] = sum;
      }
    return;
  }
  std::int64_t i = 0;
  for (; i + 8 <= rows; i += 8)
    narrow_tile<8>(below + i * width, width, turned, bias, layer.outputs, output + i * lanes);
  for (; i < rows; ++i) narrow_tile<1>(below + i * width, width, turned, bias, layer.outputs, output + i * lanes);
}

/// Layer 0 for a chunk of rows given by the positions of their ones.
void forward_one_hot(const MlpPlan::Layer& layer, const float* weights, const MatrixView<const std::int32_t>& indices,
                     bool relu, const Workspace& work, float* output) {
  const std::int64_t width = padded(layer.outputs);
  const float *weight = weights + layer.weight, *bias = weights + layer.bias;
  if (layer.stride < lanes) {
    weight = widen(weight, layer.inputs, layer.outputs, work.weights);
    bias = widen(bias, 1, layer.outputs, work.weights + layer.inputs * lanes);
  }
  if (relu)
    for_panels(width, SumPanels<true>{weight, bias, width, indices, output, width});
  else
    for_panels(width, SumPanels<false>{weight, bias, width, indices, output, width});
}

/// All layers for a chunk of rows; the outputs of layer l end in work.activation(plan, l).
void forward(const MlpPlan& plan, const float* weights, const float* transposed, const ChunkInputs& inputs,
             std::int64_t rows, const Workspace& work) {
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1;
  const float* below = inputs.dense;
  std::int64_t below_stride = inputs.stride;
  for (std::int64_t l = 0; l <= last; ++l) {
    const MlpPlan::Layer& layer = plan.layers[l];
    const std::int64_t width = padded(layer.outputs);
    float* const output = work.activation(plan, l);
    const bool relu = l < last && plan.spec.activation == Activation::relu;
    if (below == nullptr) {
      forward_one_hot(layer, weights, inputs.indices, relu, work, output);
    } else if (layer.stride < lanes) {
      forward_narrow(layer, weights, transposed + layer.transposed, below, below_stride, l == 0, rows, output);
      if (relu) activate(Activation::relu, output, rows * width);
    } else {
      const Product p{.m = rows,
                      .n = width,
                      .k = layer.inputs,
                      .a = {below, below_stride, 1},
                      .b = weights + layer.weight,
                      .b_stride = layer.stride,
                      .c = output,
                      .c_stride = width,
                      .bias = weights + layer.bias};
      relu ? layer_product<Start::bias, true>(p) : layer_product<Start::bias>(p);
    }
    if (l < last && plan.spec.activation == Activation::tanh) activate(Activation::tanh, output, rows * width);
    below = output;
    below_stride = width;
  }
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
