// What the passes of a perceptron over a chunk of rows share: their memory, their inputs, their loops.
#if defined(STEIN_INFERENCE_FUSED_MLP_CHUNK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef STEIN_INFERENCE_FUSED_MLP_CHUNK_INL_H_
#undef STEIN_INFERENCE_FUSED_MLP_CHUNK_INL_H_
#else
#define STEIN_INFERENCE_FUSED_MLP_CHUNK_INL_H_
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/gemm-inl.h>
#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/fused/scratch.h>
#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

using fused::chunk_rows;
using fused::MlpPlan;

struct PassScratch;

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

/// Multiplications that are worth a thread of their own.
constexpr std::int64_t multiplications_of_task = 1 << 21;

/// Calls part(begin, end) for whole multiples of `unit` that cover [0, size), on as many threads as are free and `p`
/// feeds. For products, whose numbers do not depend on how they are parted.
template <class Part>
void for_parts(const Product& p, std::int64_t size, std::int64_t unit, const Part& part) {
  const std::int64_t units = (size + unit - 1) / unit, worth = p.m * p.n * p.k / multiplications_of_task;
  const std::int64_t tasks = worth < 2 ? 1 : std::min({worth, units, std::int64_t{available_threads()}});
  if (tasks == 1) return part(0, size);
  parallel_for(tasks, [&](std::int64_t task) {
    part(units * task / tasks * unit, std::min(units * (task + 1) / tasks * unit, size));
  });
}

/// The product, its columns on all free threads.
template <Start start, bool relu = false>
void layer_product(const Product& p) {
  for_parts(p, p.n, lanes, [&](std::int64_t begin, std::int64_t end) {
    Product part = p;
    part.n = end - begin;
    part.b += begin, part.c += begin;
    if (part.bias != nullptr) part.bias += begin;
    product<start, relu>(part);
  });
}

struct GradientRowsScratch;

/// The product with a transposed A, its rows on all free threads.
template <Start start>
void gradient_product(const Product& p) {
  if (p.m * p.n * p.k < multiplications_of_task) return product<start>(p);
  for_parts(p, p.m, tile_height[widest_panel], [&](std::int64_t begin, std::int64_t end) {
    Product part = p;
    part.m = end - begin;
    part.a.data += begin * p.a.row, part.c += begin * p.c_stride;
    product_of_packed_rows<start>(part, fused::scratch<GradientRowsScratch>(packed_rows_size(part)));
  });
}

HWY_INLINE void activate(Activation activation, float* values, std::int64_t size) {
  const FloatTag d;
  if (activation == Activation::relu)
    for (std::int64_t q = 0; q < size; q += lanes)
      hn::StoreU(hn::Max(hn::LoadU(d, values + q), hn::Zero(d)), d, values + q);
  else
    for (std::int64_t q = 0; q < size; q += lanes) hn::StoreU(hn::Tanh(d, hn::LoadU(d, values + q)), d, values + q);
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
  if (inputs.one_hot()) return {.indices = inputs.ones.block(first, rows)};
  const MatrixView<const float> dense = inputs.dense.block(first, rows);
  if (mask.data == nullptr) return {.dense = dense.data, .stride = dense.stride, .indices = {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < dense.columns; ++j) masked[i * dense.columns + j] = dense(i, j) * mask(first + i, j);
  return {.dense = masked, .stride = dense.columns, .indices = {}};
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
