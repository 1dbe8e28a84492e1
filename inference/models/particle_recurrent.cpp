#include <stein/core/error.h>
#include <stein/inference/models/particle_recurrent.h>
#include <stein/inference/models/recurrent_pass.h>

namespace stein::inference {

/// A pass that keeps its weights.
class ParticleRecurrent::PackedNetwork final : public Predictor<float> {
 public:
  PackedNetwork(const ParticleRecurrent& model, const ParticleRows<const float>& weights)
      : model_(model), pass_(model.spec_, model.layout_), row_(weights.first_row) {
    STEIN_CHECK(weights.values.rows == 1, "a predictor has one row of weights, got {}", weights.values.rows);
    pass_.take_weights(weights.values.row(0).data());
  }

  void predict(const Inputs<float>& inputs, MatrixView<float> outputs) override {
    model_.check_prediction(1, inputs, outputs);
    pass_.predict(inputs, row_, outputs);
  }

 private:
  const ParticleRecurrent& model_;
  RecurrentPass pass_;
  std::int64_t row_;
};

ParticleRecurrent::ParticleRecurrent(const RecurrentSpec& spec) : spec_(spec), layout_(recurrent_layout(spec)) {
  static_cast<void>(fused::PackedMatrix(spec.precision));  // that the processor has it is known before it is needed
}
ParticleRecurrent::~ParticleRecurrent() = default;

bool ParticleRecurrent::draw_start(std::span<float> weights, std::uint64_t seed, std::int64_t row) const {
  draw_recurrent_start(spec_, layout_, weights, seed, row);
  return true;
}

std::int64_t ParticleRecurrent::tasks(const Batch<float>& batch) const {
  constexpr std::int64_t small = 1 << 22, many = 64;  // multiply-adds that are not worth sharing
  return batch.inputs.tokens.rows * batch.inputs.tokens.columns * layout_.size() > small ? many : 1;
}

std::int64_t ParticleRecurrent::carried_size(const Inputs<float>& inputs) const {
  return inputs.tokens.rows * spec_.state_size();
}

std::int64_t ParticleRecurrent::output_rows(const Inputs<float>& inputs) const {
  return inputs.tokens.rows * (spec_.readout == Readout::every_token ? inputs.tokens.columns : 1);
}

void ParticleRecurrent::log_likelihood(const ParticleRows<const float>& weights, const Batch<float>& batch,
                                       const NoiseKey& noise, const Evaluation<float>& wanted) {
  STEIN_CHECK(batch.score == nullptr, "recurrent network: a batch with a score of its own needs a perceptron");
  check_recurrent_inputs(spec_, batch.inputs);
  check_counts(batch);
  const auto pass = passes_.borrow([this] { return std::make_unique<RecurrentPass>(spec_, layout_); });
  const double scale = batch.likelihood_scale();
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    const Batch<float> own = rows_of(batch, i);
    pass->take_weights(weights.values.row(i).data());
    pass->forward(own.inputs, DropoutDraw{noise, static_cast<std::uint32_t>(weights.first_row + i)});
    const double value =
        wanted.wants_gradient() ? pass->value_and_gradient(own, scale, wanted.gradient.row(i)) : pass->value(own);
    if (wanted.wants_value()) wanted.value[static_cast<std::size_t>(i)] = scale * value;
  }
}

void ParticleRecurrent::check_prediction(std::int64_t weight_rows, const Inputs<float>& inputs,
                                         MatrixView<const float> outputs) const {
  check_recurrent_inputs(spec_, inputs);
  const std::int64_t rows = weight_rows * output_rows(inputs);
  STEIN_CHECK(outputs.rows == rows && outputs.columns == output_count(),
              "recurrent network: expected outputs [{}, {}], got [{}, {}]", rows, output_count(), outputs.rows,
              outputs.columns);
  inputs.carried.check(weight_rows, carried_size(inputs));
}

void ParticleRecurrent::predict(const ParticleRows<const float>& weights, const Inputs<float>& inputs,
                                MatrixView<float> outputs) {
  check_prediction(weights.values.rows, inputs, outputs);
  const std::int64_t rows = output_rows(inputs);
  const auto pass = passes_.borrow([this] { return std::make_unique<RecurrentPass>(spec_, layout_); });
  for (std::int64_t i = 0; i < weights.values.rows; ++i) {
    Inputs<float> own = inputs;
    own.carried = inputs.carried.block(i, 1);
    pass->take_weights(weights.values.row(i).data());
    pass->predict(own, weights.first_row + i, outputs.block(i * rows, rows));
  }
}

std::unique_ptr<Predictor<float>> ParticleRecurrent::predictor(const ParticleRows<const float>& weights) {
  return std::make_unique<PackedNetwork>(*this, weights);
}

}  // namespace stein::inference
