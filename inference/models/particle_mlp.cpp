#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/models/mlp_batch.h>
#include <stein/inference/models/particle_mlp.h>

#include <cmath>

namespace stein::inference {

ParticleMlp::ParticleMlp(const MlpSpec& spec) : layout_(mlp_layout(spec, fused::vector_lanes())) {
  auto plan = std::make_unique<fused::MlpPlan>();
  plan->spec = spec;
  for (std::int64_t l = 0; l < spec.layers(); ++l) {
    const LayoutEntry& weight = layout_.at(fmt::format("layer{}.weight", l));
    plan->layers.push_back({.inputs = spec.layer_inputs(l),
                            .outputs = spec.layer_outputs(l),
                            .weight = weight.offset,
                            .bias = layout_.at(fmt::format("layer{}.bias", l)).offset,
                            .stride = weight.row_stride});
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
                                 MatrixView<float> gradient, std::span<float> value) {
  check_batch(plan_->spec, batch, weights.values.rows);
  thread_local fused::OneHotColumns columns;
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    const Batch<float> own = share_of(batch, i, 1);
    if (batch.inputs.one_hot() && (i == 0 || batch.inputs_per_particle))
      columns.assign(own.inputs.indices, plan_->spec.inputs);
    const double sum = fused::mlp_pass(*plan_, weights.values.row(i).data(), own, columns, gradient.row(i).data());
    if (!value.empty()) value[i] = static_cast<float>(sum);
  }
}

void ParticleMlp::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                          MatrixView<float> outputs) {
  check_inputs(plan_->spec, inputs);
  STEIN_CHECK(outputs.rows == weights.values.rows * inputs.rows() && outputs.columns == plan_->spec.outputs,
              "network: outputs must be [{}, {}], got [{}, {}]", weights.values.rows * inputs.rows(),
              plan_->spec.outputs, outputs.rows, outputs.columns);
  fused::mlp_forward(*plan_, weights.values, inputs, outputs);
}

}  // namespace stein::inference
