#include <stein/core/simd.h>
#include <stein/inference/fused/mlp_likelihood.h>
#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/fused/scratch.h>

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/mlp_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>
#include <stein/inference/fused/gemm-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

using fused::MlpPlan;

struct PassScratch;
struct RowScratch;

using fused::chunk_rows;

/// Memory for the activations and gradients of a chunk of rows, and for repacked weights.
class Workspace {
 public:
  Workspace(const MlpPlan& plan, std::int64_t rows, bool masked) {
    std::int64_t size = 0, widest = lanes, repacked = 0;
    for (const MlpPlan::Layer& layer : plan.layers) {
      size += rows * padded(layer.outputs);
      widest = std::max(widest, padded(layer.outputs));
      repacked = std::max({repacked, padded(layer.outputs) * padded(layer.inputs), layer.inputs * lanes + lanes});
    }
    const std::int64_t input = masked ? rows * plan.spec.inputs + lanes : 0;
    activations_ = fused::scratch<PassScratch>(size + 2 * rows * widest + 2 * repacked + padded(input));
    slope_ = activations_ + size;
    next_slope_ = slope_ + rows * widest;
    weights = next_slope_ + rows * widest;
    gradients = weights + repacked;
    inputs = gradients + repacked;
    rows_ = rows;
  }

  /// Outputs of layer `index`, [rows, padded(outputs)].
  float* activation(const MlpPlan& plan, std::int64_t index) const {
    float* place = activations_;
    for (std::int64_t l = 0; l < index; ++l) place += rows_ * padded(plan.layers[l].outputs);
    return place;
  }
  float* slope() const { return slope_; }
  float* next_slope() const { return next_slope_; }
  void swap_slopes() { std::swap(slope_, next_slope_); }

  float* weights;    ///< a weight matrix in another shape
  float* gradients;  ///< a gradient matrix in another shape
  float* inputs;     ///< masked inputs

 private:
  float *activations_, *slope_, *next_slope_;
  std::int64_t rows_;
};

/// Rows of a matrix narrower than a vector, spread out to whole vectors.
const float* widen(const float* weights, std::int64_t rows, std::int64_t columns, float* wide) {
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(weights + i * columns, columns, wide + i * lanes);
    std::fill(wide + i * lanes + columns, wide + (i + 1) * lanes, 0.0f);
  }
  return wide;
}

/// `matrix` [rows, columns] turned over to [columns, padded(rows)], the padding zero.
void transpose(const float* matrix, std::int64_t rows, std::int64_t columns, std::int64_t stride, float* turned) {
  const std::int64_t turned_stride = padded(rows);
  std::int64_t whole_rows = 0, whole_columns = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<float, 4> four;
  const hn::Repartition<double, decltype(four)> two;
  const auto pairs = [&](auto v) { return hn::BitCast(two, v); };
  const auto store = [&](auto v, float* place) { hn::StoreU(hn::BitCast(four, v), four, place); };
  whole_rows = rows / 4 * 4;
  whole_columns = columns / 4 * 4;
  for (std::int64_t i = 0; i < whole_rows; i += 4) {
    for (std::int64_t j = 0; j < whole_columns; j += 4) {
      const float* const from = matrix + i * stride + j;
      float* const to = turned + j * turned_stride + i;
      const auto row0 = hn::LoadU(four, from), row1 = hn::LoadU(four, from + stride),
                 row2 = hn::LoadU(four, from + 2 * stride), row3 = hn::LoadU(four, from + 3 * stride);
      const auto low01 = pairs(hn::InterleaveLower(four, row0, row1)),
                 low23 = pairs(hn::InterleaveLower(four, row2, row3)),
                 high01 = pairs(hn::InterleaveUpper(four, row0, row1)),
                 high23 = pairs(hn::InterleaveUpper(four, row2, row3));
      store(hn::InterleaveLower(two, low01, low23), to);
      store(hn::InterleaveUpper(two, low01, low23), to + turned_stride);
      store(hn::InterleaveLower(two, high01, high23), to + 2 * turned_stride);
      store(hn::InterleaveUpper(two, high01, high23), to + 3 * turned_stride);
    }
  }
#endif
  for (std::int64_t j = 0; j < columns; ++j) {
    float* const row = turned + j * turned_stride;
    for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i) row[i] = matrix[i * stride + j];
    std::fill(row + rows, row + turned_stride, 0.0f);
  }
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

/// Calls `panel.operator()<V>(j)` for column panels of nearly equal width, at most eight vectors.
template <class Panel>
HWY_INLINE void for_panels(std::int64_t width, const Panel& panel) {
  constexpr std::int64_t widest = 8;
  std::int64_t vectors = width / lanes, j = 0;
  for (std::int64_t panels = (vectors + widest - 1) / widest; panels > 0; --panels) {
    const std::int64_t size = (vectors + panels - 1) / panels;
    switch (size) {
      case 1: panel.template operator()<1>(j); break;
      case 2: panel.template operator()<2>(j); break;
      case 3: panel.template operator()<3>(j); break;
      case 4: panel.template operator()<4>(j); break;
      case 5: panel.template operator()<5>(j); break;
      case 6: panel.template operator()<6>(j); break;
      case 7: panel.template operator()<7>(j); break;
      default: panel.template operator()<8>(j); break;
    }
    j += size * lanes;
    vectors -= size;
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

HWY_INLINE void activate(Activation activation, float* values, std::int64_t size) {
  const FloatTag d;
  if (activation == Activation::relu)
    for (std::int64_t q = 0; q < size; q += lanes)
      hn::StoreU(hn::Max(hn::LoadU(d, values + q), hn::Zero(d)), d, values + q);
  else
    for (std::int64_t q = 0; q < size; q += lanes) hn::StoreU(hn::Tanh(d, hn::LoadU(d, values + q)), d, values + q);
}

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

/// Inputs of a chunk: dense rows (masked if need be) or positions.
struct ChunkInputs {
  const float* dense = nullptr;
  std::int64_t stride = 0;
  MatrixView<const std::int32_t> indices;
  std::span<const std::int32_t> starts{};  ///< with `indices`: of each input, in `rows`
  const std::int32_t* rows = nullptr;
};

ChunkInputs chunk_inputs(const Inputs<float>& inputs, const MatrixView<const float>& mask, std::int64_t first,
                         std::int64_t rows, float* masked) {
  if (inputs.one_hot()) return {.indices = inputs.indices.block(first, rows)};
  const MatrixView<const float> dense = inputs.dense.block(first, rows);
  if (mask.data == nullptr) return {.dense = dense.data, .stride = dense.stride, .indices = {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < dense.columns; ++j) masked[i * dense.columns + j] = dense(i, j) * mask(first + i, j);
  return {.dense = masked, .stride = dense.columns, .indices = {}};
}

/// One layer with fewer outputs than lanes for rows of numbers below: output [rows, lanes], padding zero.
void forward_narrow(const MlpPlan::Layer& layer, const float* weights, const float* below, std::int64_t below_stride,
                    std::int64_t rows, const Workspace& work, float* output) {
  const std::int64_t width = padded(layer.inputs);
  transpose(weights + layer.weight, layer.inputs, layer.outputs, layer.outputs, work.weights);
  const float* const bias = weights + layer.bias;
  std::fill(output, output + rows * lanes, 0.0f);
  if (below_stride != width) {  // rows of an input matrix have no padding
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < layer.outputs; ++k) {
        float sum = bias[k];
        for (std::int64_t j = 0; j < layer.inputs; ++j)
          sum += below[i * below_stride + j] * work.weights[k * width + j];
        output[i * lanes + k] = sum;
      }
    return;
  }
  std::int64_t i = 0;
  for (; i + 8 <= rows; i += 8)
    narrow_tile<8>(below + i * width, width, work.weights, bias, layer.outputs, output + i * lanes);
  for (; i < rows; ++i) narrow_tile<1>(below + i * width, width, work.weights, bias, layer.outputs, output + i * lanes);
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
void forward(const MlpPlan& plan, const float* weights, const ChunkInputs& inputs, std::int64_t rows,
             const Workspace& work) {
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
      forward_narrow(layer, weights, below, below_stride, rows, work, output);
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
      relu ? product<Start::bias, true>(p) : product<Start::bias>(p);
    }
    if (l < last && plan.spec.activation == Activation::tanh) activate(Activation::tanh, output, rows * width);
    below = output;
    below_stride = width;
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
  if (below_stride != padded(layer.inputs)) {  // rows of an input matrix have no padding
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
  add ? product<Start::add_to_c>(p) : product<Start::zero>(p);
}

void backward(const MlpPlan& plan, const float* weights, const ChunkInputs& inputs, std::int64_t rows, bool add,
              Workspace& work, float* gradient) {
  for (std::int64_t l = static_cast<std::int64_t>(plan.layers.size()) - 1; l >= 0; --l) {
    const MlpPlan::Layer& layer = plan.layers[l];
    const float* const below = l == 0 ? inputs.dense : work.activation(plan, l - 1);
    layer_gradient(layer, inputs, below, l == 0 ? inputs.stride : padded(layer.inputs), rows, add, work, gradient);
    if (l == 0) return;
    transpose(weights + layer.weight, layer.inputs, layer.outputs, layer.stride, work.weights);
    const std::int64_t width = padded(layer.inputs);
    product<Start::zero>({.m = rows,
                          .n = width,
                          .k = layer.outputs,
                          .a = {work.slope(), padded(layer.outputs), 1},
                          .b = work.weights,
                          .b_stride = width,
                          .c = work.next_slope(),
                          .c_stride = width});
    multiply_slopes(plan.spec.activation, below, work.next_slope(), rows * width);
    work.swap_slopes();
  }
}

double mlp_pass(const MlpPlan& plan, const float* weights, const Batch<float>& batch,
                const fused::OneHotColumns& columns, float* gradient) {
  const double precision = plan.log_noise_precision >= 0
                               ? std::exp(static_cast<double>(weights[plan.log_noise_precision]))
                               : plan.spec.noise_precision;
  Workspace work(plan, std::min(chunk_rows, batch.rows), batch.input_mask.data != nullptr);
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1;
  fused::LikelihoodSums sums;
  for (std::int64_t first = 0; first < batch.rows; first += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, batch.rows - first);
    ChunkInputs inputs = chunk_inputs(batch.inputs, batch.input_mask, first, rows, work.inputs);
    if (batch.inputs.one_hot()) {
      inputs.starts = columns.starts(first / chunk_rows);
      inputs.rows = columns.rows();
    }
    forward(plan, weights, inputs, rows, work);
    const fused::LikelihoodSums chunk = fused::likelihood_gradient(
        plan.spec, batch, first, rows, precision, work.activation(plan, last), padded(plan.spec.outputs), work.slope());
    sums.value += chunk.value;
    sums.log_noise_precision += chunk.log_noise_precision;
    backward(plan, weights, inputs, rows, first > 0, work, gradient);
  }
  if (plan.log_noise_precision >= 0) gradient[plan.log_noise_precision] = static_cast<float>(sums.log_noise_precision);
  return sums.value;
}

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

/// One input row through the whole network: reads each weight that matters once.
void forward_row(const MlpPlan& plan, const float* weights, const Inputs<float>& inputs, std::int64_t row,
                 float* outputs) {
  std::int64_t widest = plan.spec.inputs;
  for (const MlpPlan::Layer& layer : plan.layers) widest = std::max(widest, layer.outputs);
  const std::int64_t size = padded(widest) + lanes;
  float* values = fused::scratch<RowScratch>(2 * size);
  float* next = values + size;
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1;
  for (std::int64_t l = 0; l <= last; ++l) {
    const MlpPlan::Layer& layer = plan.layers[l];
    const float *weight = weights + layer.weight, *bias = weights + layer.bias;
    if (layer.stride < lanes) {
      if (l == 0 && inputs.one_hot()) {
        std::copy_n(bias, layer.outputs, next);
        for (const std::int32_t index : inputs.indices.row(row))
          for (std::int64_t j = 0; j < layer.outputs; ++j) next[j] += weight[index * layer.outputs + j];
      } else {
        narrow_row(weight, bias, layer.outputs, l == 0 ? inputs.dense.row(row).data() : values, layer.inputs, next);
      }
    } else if (l == 0 && inputs.one_hot()) {
      for_panels(layer.stride,
                 SumPanels<false>{weight, bias, layer.stride, inputs.indices.block(row, 1), next, layer.stride});
    } else {
      const float* const below = l == 0 ? inputs.dense.row(row).data() : values;
      for_panels(layer.stride, RowPanels{weight, bias, layer.stride, below, layer.inputs, next});
    }
    if (l < last) activate(plan.spec.activation, next, padded(layer.outputs));
    std::swap(values, next);
  }
  std::copy_n(values, plan.spec.outputs, outputs);
}

void mlp_forward(const MlpPlan& plan, const float* weights, const Inputs<float>& inputs, MatrixView<float> outputs) {
  constexpr std::int64_t few = 4;  // below that, repacking and idle tiles cost more than they save
  if (inputs.rows() <= few) {
    for (std::int64_t i = 0; i < inputs.rows(); ++i) forward_row(plan, weights, inputs, i, outputs.row(i).data());
    return;
  }
  Workspace work(plan, std::min(chunk_rows, inputs.rows()), false);
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1, width = padded(plan.spec.outputs);
  for (std::int64_t first = 0; first < inputs.rows(); first += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, inputs.rows() - first);
    forward(plan, weights, chunk_inputs(inputs, {}, first, rows, nullptr), rows, work);
    for (std::int64_t i = 0; i < rows; ++i)
      std::copy_n(work.activation(plan, last) + i * width, plan.spec.outputs, outputs.row(first + i).data());
  }
}

std::int64_t vector_lanes() {
  return lanes;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(mlp_pass);
HWY_EXPORT(mlp_forward);
HWY_EXPORT(vector_lanes);

namespace fused {

void OneHotColumns::assign(const MatrixView<const std::int32_t>& indices, std::int64_t inputs) {
  inputs_ = static_cast<std::size_t>(inputs);
  const std::int64_t chunks = (indices.rows + chunk_rows - 1) / chunk_rows;
  starts_.assign(static_cast<std::size_t>(chunks) * (inputs_ + 1), 0);
  rows_.resize(static_cast<std::size_t>(indices.rows * indices.columns));
  std::int32_t next = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t first = chunk * chunk_rows, count = std::min(chunk_rows, indices.rows - first);
    std::int32_t* const start = starts_.data() + static_cast<std::size_t>(chunk) * (inputs_ + 1);
    for (std::int64_t i = 0; i < count; ++i)
      for (const std::int32_t index : indices.row(first + i)) ++start[index];
    for (std::size_t input = 0; input <= inputs_; ++input) next = start[input] += input == 0 ? next : start[input - 1];
    // Each start is now the end of its input; filling from the last row on brings it back to the beginning.
    for (std::int64_t i = count; i-- > 0;)
      for (const std::int32_t index : indices.row(first + i)) rows_[--start[index]] = static_cast<std::int32_t>(i);
  }
}

std::int64_t vector_lanes() {
  return HWY_DYNAMIC_DISPATCH(vector_lanes)();
}

double mlp_pass(const MlpPlan& plan, const float* weights, const Batch<float>& batch, const OneHotColumns& columns,
                float* gradient) {
  return HWY_DYNAMIC_DISPATCH(mlp_pass)(plan, weights, batch, columns, gradient);
}

void mlp_forward(const MlpPlan& plan, const float* weights, const Inputs<float>& inputs, MatrixView<float> outputs) {
  HWY_DYNAMIC_DISPATCH(mlp_forward)(plan, weights, inputs, outputs);
}

}  // namespace fused
}  // namespace stein::inference
#endif
