#include <stein/core/parallel.h>
#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/fused/scratch.h>
#include <stein/inference/models/mlp_batch.h>
#include <stein/inference/models/particle_mlp.h>

#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// Rows of a part of a batch: fixed by the batch alone.
std::int64_t part_rows(std::int64_t rows) {
  constexpr std::int64_t least = 256, most_parts = 16, chunk = fused::chunk_rows;
  const std::int64_t share = (rows + most_parts - 1) / most_parts;
  return std::max(least, (share + chunk - 1) / chunk * chunk);
}

struct TransposedScratch;

void add_to(std::span<float> sum, std::span<const float> term) {
  for (std::size_t q = 0; q < sum.size(); ++q) sum[q] += term[q];
}

}  // namespace

ParticleMlp::ParticleMlp(const MlpSpec& spec) : layout_(mlp_layout(spec, fused::vector_lanes())) {
  auto plan = std::make_unique<fused::MlpPlan>();
  plan->spec = spec;
  for (std::int64_t l = 0; l < spec.layers(); ++l) {
    const LayoutEntry& weight = layout_.at(fmt::format("layer{}.weight", l));
    plan->layers.push_back({.inputs = spec.layer_inputs(l),
                            .outputs = spec.layer_outputs(l),
                            .weight = weight.offset,
                            .bias = layout_.at(fmt::format("layer{}.bias", l)).offset,
                            .stride = weight.row_stride,
                            .transposed = plan->transposed_size});
    plan->transposed_size += fused::transposed_floats(spec.layer_inputs(l), spec.layer_outputs(l));
  }
  if (spec.constants > 0) plan->constants = layout_.at("constants").offset;
  if (spec.learn_noise_precision) plan->log_noise_precision = layout_.at("log_noise_precision").offset;
  plan_ = std::move(plan);
}

ParticleMlp::~ParticleMlp() = default;

double ParticleMlp::initial_value(const LayoutEntry&) const {
  return std::log(plan_->spec.noise_precision);
}

std::int64_t ParticleMlp::output_count() const {
  return plan_->spec.outputs;
}

void ParticleMlp::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch, const NoiseKey&,
                                 const Evaluation<float>& wanted) {
  check_batch(plan_->spec, batch, weights.values.rows / batch.weight_samples);
  thread_local fused::OneHotColumns columns;
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    const Batch<float> own = rows_of(batch, i);
    if (batch.inputs.one_hot() && (i == 0 || batch.inputs_per_particle))
      columns.assign(own.inputs.ones, plan_->spec.inputs);
    const std::span<float> gradient = wanted.wants_gradient() ? wanted.gradient.row(i) : std::span<float>();
    const double sum = score(weights.values.row(i), own, columns, gradient);
    if (wanted.wants_value()) wanted.value[i] = sum;
  }
}

std::int64_t ParticleMlp::tasks(const Batch<float>& batch) const {
  const std::int64_t size = part_rows(batch.rows);
  return (batch.rows + size - 1) / size;
}

double ParticleMlp::score(std::span<const float> weights, const Batch<float>& batch,
                          const fused::OneHotColumns& columns, std::span<float> gradient) const {
  const std::int64_t size = part_rows(batch.rows), parts = (batch.rows + size - 1) / size;
  float* const transposed = fused::scratch<TransposedScratch>(plan_->transposed_size);
  fused::transpose_weights(*plan_, weights.data(),
                           gradient.empty() ? fused::Transposes::forward : fused::Transposes::backward, transposed);
  const auto pass = [&](std::int64_t part, float* slope) {
    const std::int64_t first = part * size;
    return fused::mlp_pass(*plan_, weights.data(), transposed, batch, {first, std::min(size, batch.rows - first)},
                           columns, slope);
  };
  if (parts == 1) return pass(0, gradient.data());
  const bool in_order = available_threads() == 1;
  // Gradients of the parts after the first, all of them where they are made at the same time.
  thread_local Matrix<float> kept;
  Matrix<float>& others = kept;  // the caller's, also inside the tasks
  const std::int64_t other_rows = gradient.empty() ? 0 : in_order ? 1 : parts - 1;
  if (others.rows() < other_rows || others.columns() < std::ssize(gradient))
    others = Matrix<float>(other_rows, std::ssize(gradient));
  const auto other = [&](std::int64_t row) { return others.row(row).first(gradient.size()); };
  if (in_order) {
    double sum = pass(0, gradient.data());
    for (std::int64_t part = 1; part < parts; ++part) {
      sum += pass(part, gradient.empty() ? nullptr : other(0).data());
      if (!gradient.empty()) add_to(gradient, other(0));
    }
    return sum;
  }
  double sums[16];
  parallel_for(parts, [&](std::int64_t part) {
    float* const slope = gradient.empty() ? nullptr : part == 0 ? gradient.data() : other(part - 1).data();
    sums[part] = pass(part, slope);
  });
  double sum = sums[0];
  for (std::int64_t part = 1; part < parts; ++part) sum += sums[part];
  if (gradient.empty()) return sum;
  constexpr std::int64_t block = 4096;
  parallel_blocks(std::ssize(gradient), block, [&](std::int64_t begin, std::int64_t end) {
    const auto first = static_cast<std::size_t>(begin), count = static_cast<std::size_t>(end - begin);
    for (std::int64_t part = 1; part < parts; ++part)
      add_to(gradient.subspan(first, count), other(part - 1).subspan(first, count));
  });
  return sum;
}

void ParticleMlp::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                          MatrixView<float> outputs) {
  check_inputs(plan_->spec, inputs);
  STEIN_CHECK(outputs.rows == weights.values.rows * inputs.rows() && outputs.columns == plan_->spec.outputs,
              "network: outputs must be [{}, {}], got [{}, {}]", weights.values.rows * inputs.rows(),
              plan_->spec.outputs, outputs.rows, outputs.columns);
  const std::int64_t n = inputs.rows(), blocks = std::max<std::int64_t>(1, n / fused::chunk_rows);
  if (n <= fused::few_rows || weights.values.rows * n <= fused::chunk_rows)
    return fused::mlp_forward(*plan_, weights.values, inputs, outputs);
  parallel_for(weights.values.rows * blocks, [&](std::int64_t task) {
    const std::int64_t i = task / blocks, block = task % blocks, first = block * fused::chunk_rows;
    const std::int64_t count = block + 1 == blocks ? n - first : fused::chunk_rows;
    Inputs<float> part;
    if (inputs.one_hot())
      part.ones = inputs.ones.block(first, count);
    else
      part.dense = inputs.dense.block(first, count);
    fused::mlp_forward(*plan_, weights.values.block(i, 1), part, outputs.block(i * n + first, count));
  });
}

}  // namespace stein::inference
