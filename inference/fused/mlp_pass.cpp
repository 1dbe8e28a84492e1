#include <stein/core/simd.h>
#include <stein/inference/fused/mlp_likelihood.h>
#include <stein/inference/fused/mlp_pass.h>

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stein/inference/fused/mlp_pass.cpp"  // Highway compiles this file once a target
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <stein/inference/fused/block-inl.h>
#include <stein/inference/fused/mlp_backward-inl.h>
#include <stein/inference/fused/mlp_forward-inl.h>
#include <stein/inference/fused/mlp_row-inl.h>

HWY_BEFORE_NAMESPACE();
namespace stein::inference::HWY_NAMESPACE {

/// Rows first … first + count as the batch scores them itself: the scaled ∂ value/∂ outputs in `slope`, the value
/// unscaled.
double score_outputs(const MlpPlan& plan, const float* weights, const Batch<float>& batch, std::int64_t first,
                     std::int64_t count, const float* outputs, float* slope, float* constant_slope) {
  const std::int64_t columns = plan.spec.outputs, stride = padded(columns);
  const auto scale = static_cast<float>(batch.likelihood_scale());
  const auto constants = static_cast<std::size_t>(plan.spec.constants);
  std::fill(slope, slope + count * stride, 0.0f);
  const double value = batch.score->score(batch.first_particle, first, {outputs, count, columns, stride},
                                          {weights + std::max<std::int64_t>(plan.constants, 0), constants},
                                          {slope, count, columns, stride}, {constant_slope, constants});
  for (std::int64_t k = 0; k < count * stride; ++k) slope[k] *= scale;
  return value;
}

void turn_over(const MlpPlan& plan, const float* weights, fused::Transposes which, float* transposed) {
  for (const MlpPlan::Layer& layer : plan.layers) {
    const bool behind = which == fused::Transposes::backward && &layer != plan.layers.data();
    const std::int64_t width = padded(layer.inputs);
    if (behind || layer.stride < lanes)
      transpose_padded({weights + layer.weight, layer.stride}, layer.inputs, layer.outputs, width,
                       {transposed + layer.transposed, width});
  }
}

std::int64_t transposed_floats(std::int64_t inputs, std::int64_t outputs) {
  return outputs * padded(inputs);
}

double mlp_pass(const MlpPlan& plan, const float* weights, const float* transposed, const Batch<float>& batch,
                fused::BatchPart part, const fused::OneHotColumns& columns, float* gradient) {
  const double scale = batch.likelihood_scale();
  const auto constants = static_cast<std::size_t>(plan.spec.constants);
  thread_local std::vector<float> unwanted;
  if (gradient == nullptr) unwanted.resize(constants);
  const std::span<float> constant_gradient(
      gradient != nullptr ? gradient + std::max<std::int64_t>(plan.constants, 0) : unwanted.data(), constants);
  std::ranges::fill(constant_gradient, 0.0f);
  const double precision = plan.log_noise_precision >= 0
                               ? std::exp(static_cast<double>(weights[plan.log_noise_precision]))
                               : plan.spec.noise_precision;
  Workspace work(plan, std::min(chunk_rows, part.count), batch.input_mask.data != nullptr);
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1, end = part.first + part.count;
  fused::LikelihoodSums sums;
  for (std::int64_t first = part.first; first < end; first += chunk_rows) {
    const std::int64_t rows = std::min(chunk_rows, end - first);
    ChunkInputs inputs = chunk_inputs(batch.inputs, batch.input_mask, first, rows, work.inputs);
    if (batch.inputs.one_hot()) {
      inputs.starts = columns.starts(first / chunk_rows);
      inputs.rows = columns.rows();
    }
    forward(plan, weights, transposed, inputs, rows, work);
    const float* const outputs = work.activation(plan, last);
    if (batch.score != nullptr) {
      sums.value +=
          scale * score_outputs(plan, weights, batch, first, rows, outputs, work.slope(), constant_gradient.data());
    } else {
      const fused::LikelihoodSums chunk = fused::likelihood_gradient(plan.spec, batch, first, rows, precision, outputs,
                                                                     padded(plan.spec.outputs), work.slope());
      sums.value += chunk.value;
      sums.log_noise_precision += chunk.log_noise_precision;
    }
    if (gradient != nullptr) backward(plan, transposed, inputs, rows, first > part.first, work, gradient);
  }
  if (gradient == nullptr) return sums.value;
  for (float& slope : constant_gradient) slope *= static_cast<float>(scale);
  if (plan.log_noise_precision >= 0) gradient[plan.log_noise_precision] = static_cast<float>(sums.log_noise_precision);
  return sums.value;
}

struct TransposedScratch;

void mlp_forward(const MlpPlan& plan, const MatrixView<const float>& weights, const Inputs<float>& inputs,
                 MatrixView<float> outputs) {
  const std::int64_t n = inputs.rows();
  if (n <= fused::few_rows) {
    for (std::int64_t row = 0; row < n; ++row)
      forward_row(plan, weights, inputs, row, outputs.row(row).data(), n * outputs.stride);
    return;
  }
  Workspace work(plan, std::min(chunk_rows, n), false);
  const std::int64_t last = static_cast<std::int64_t>(plan.layers.size()) - 1, width = padded(plan.spec.outputs);
  float* const transposed = fused::scratch<TransposedScratch>(plan.transposed_size);
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    turn_over(plan, weights.row(i).data(), fused::Transposes::forward, transposed);
    for (std::int64_t first = 0; first < n; first += chunk_rows) {
      const std::int64_t rows = std::min(chunk_rows, n - first);
      forward(plan, weights.row(i).data(), transposed, chunk_inputs(inputs, {}, first, rows, nullptr), rows, work);
      for (std::int64_t r = 0; r < rows; ++r)
        std::copy_n(work.activation(plan, last) + r * width, plan.spec.outputs, outputs.row(i * n + first + r).data());
    }
  }
}

std::int64_t vector_lanes() {
  return lanes;
}

}  // namespace stein::inference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stein::inference {

HWY_EXPORT(turn_over);
HWY_EXPORT(transposed_floats);
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

std::int64_t transposed_floats(std::int64_t inputs, std::int64_t outputs) {
  return HWY_DYNAMIC_DISPATCH(transposed_floats)(inputs, outputs);
}

void transpose_weights(const MlpPlan& plan, const float* weights, Transposes which, float* transposed) {
  HWY_DYNAMIC_DISPATCH(turn_over)(plan, weights, which, transposed);
}

double mlp_pass(const MlpPlan& plan, const float* weights, const float* transposed, const Batch<float>& batch,
                BatchPart part, const OneHotColumns& columns, float* gradient) {
  return HWY_DYNAMIC_DISPATCH(mlp_pass)(plan, weights, transposed, batch, part, columns, gradient);
}

void mlp_forward(const MlpPlan& plan, const MatrixView<const float>& weights, const Inputs<float>& inputs,
                 MatrixView<float> outputs) {
  HWY_DYNAMIC_DISPATCH(mlp_forward)(plan, weights, inputs, outputs);
}

}  // namespace fused
}  // namespace stein::inference
#endif
