#include <stein/core/parallel.h>
#include <stein/inference/fused/categorical_pass.h>
#include <stein/inference/fused/matrix_product.h>
#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/fused/scratch.h>
#include <stein/inference/models/mlp_batch.h>
#include <stein/inference/models/particle_mlp.h>

#include <stein/inference/storage/matrix.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

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

void activate(Activation activation, MatrixView<float> units) {
  for (std::int64_t i = 0; i < units.rows; ++i)
    for (float& unit : units.row(i)) unit = activation == Activation::relu ? std::max(unit, 0.0F) : std::tanh(unit);
}

/// slopes ← slopes · a′, told by what the units are behind the activation.
void pull_back_activation(Activation activation, MatrixView<const float> units, MatrixView<float> slopes) {
  for (std::int64_t i = 0; i < units.rows; ++i)
    for (std::size_t j = 0; j < units.row(i).size(); ++j) {
      const float unit = units.row(i)[j];
      slopes.row(i)[j] *= activation == Activation::relu ? (unit > 0 ? 1.0F : 0.0F) : 1 - unit * unit;
    }
}

/// Logits become the slopes of the log probability of a class: 1[k = c] − p_k.
void to_class_slopes(std::span<const std::int64_t> classes, MatrixView<float> logits) {
  fused::to_probabilities(logits, /*share=*/-1);
  for (std::int64_t i = 0; i < logits.rows; ++i) {
    STEIN_CHECK(classes[static_cast<std::size_t>(i)] >= 0 && classes[static_cast<std::size_t>(i)] < logits.columns,
                "network: expected classes from 0 to {}, got {}", logits.columns - 1,
                classes[static_cast<std::size_t>(i)]);
    // 1 − p_c as the sum of the others: where the network is sure, 1 − p_c itself is lost to rounding.
    float& chosen = logits(i, classes[static_cast<std::size_t>(i)]);
    chosen = 0;
    float others = 0;
    for (const float slope : logits.row(i)) others -= slope;
    chosen = others;
  }
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

std::int64_t ParticleMlp::rows_per_call() const {
  constexpr std::int64_t large = 1 << 15;  // weights whose work is many times that of a call
  return layout_.size() < large ? 4 : 1;
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

void ParticleMlp::input_gradient(const ParticleRows<const float>& weights, MatrixView<const float> inputs,
                                 std::span<const std::int64_t> classes, MatrixView<float> gradient) {
  const MlpSpec& spec = plan_->spec;
  STEIN_CHECK(spec.likelihood == Likelihood::categorical,
              "network: a gradient by the inputs is of the probability of a class, and its outputs are no classes");
  STEIN_CHECK(weights.values.rows == 1 && weights.values.columns == layout_.size(),
              "network: expected weights [1, {}], got [{}, {}]", layout_.size(), weights.values.rows,
              weights.values.columns);
  STEIN_CHECK(inputs.columns == spec.inputs && std::ssize(classes) == inputs.rows && gradient.rows == inputs.rows &&
                  gradient.columns == spec.inputs,
              "network: expected inputs and gradients [n, {}] and n classes, got [{}, {}], [{}, {}] and {}",
              spec.inputs, inputs.rows, inputs.columns, gradient.rows, gradient.columns, classes.size());
  const float* const row = weights.values.row(0).data();
  std::vector<Matrix<float>> outputs;  // of every layer, hidden ones behind their activation
  fused::PackedMatrix packed;
  for (const auto& layer : plan_->layers) {
    const MatrixView<const float> below = outputs.empty() ? inputs : std::as_const(outputs.back()).view();
    Matrix<float> above(inputs.rows, layer.outputs);
    packed.pack(layer.inputs, layer.outputs, {row + layer.weight, layer.stride, 1});
    fused::multiply(inputs.rows, {below.data, below.stride, 1}, packed, above.view().data, above.view().stride,
                    fused::ProductStart::zero);
    fused::add_bias(above.view(), {row + layer.bias, static_cast<std::size_t>(layer.outputs)});
    outputs.push_back(std::move(above));
    if (std::ssize(outputs) < spec.layers()) activate(spec.activation, outputs.back().view());
  }
  Matrix<float> slope = std::move(outputs.back());  // of the log probability by the outputs of a layer
  to_class_slopes(classes, slope.view());
  for (std::int64_t l = spec.layers() - 1; l >= 0; --l) {
    const auto& layer = plan_->layers[static_cast<std::size_t>(l)];
    Matrix<float> below = l == 0 ? Matrix<float>() : Matrix<float>(inputs.rows, layer.inputs);
    const MatrixView<float> to = l == 0 ? gradient : below.view();
    packed.pack(layer.outputs, layer.inputs, {row + layer.weight, 1, layer.stride});
    fused::multiply(inputs.rows, {slope.view().data, slope.view().stride, 1}, packed, to.data, to.stride,
                    fused::ProductStart::zero);
    if (l == 0) return;
    pull_back_activation(spec.activation, outputs[static_cast<std::size_t>(l - 1)].view(), to);
    slope = std::move(below);
  }
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
