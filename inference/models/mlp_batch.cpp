#include <stein/core/error.h>
#include <stein/inference/models/mlp_batch.h>

#include <cmath>
#include <span>

namespace stein::inference {
namespace {

void check_ones(MatrixView<const std::int32_t> ones, std::int64_t inputs) {
  // Every minibatch passes here: one branch-free sweep a row, and the sentence only where it is needed.
  for (std::int64_t i = 0; i < ones.rows; ++i) {
    const auto row = ones.row(i);
    bool outside = false;
    for (const std::int32_t index : row)
      outside |= static_cast<std::uint32_t>(index) >= static_cast<std::uint64_t>(inputs);
    if (!outside) continue;
    for (const std::int32_t index : row)
      STEIN_CHECK(index >= 0 && index < inputs, "batch: input row {} has its one at {}, outside [0, {})", i, index,
                  inputs);
  }
}

template <class Scalar>
void check_classes(MatrixView<const Scalar> targets, std::int64_t classes) {
  for (std::int64_t i = 0; i < targets.rows; ++i) {
    const double target = targets(i, 0);
    STEIN_CHECK(target >= 0 && target < static_cast<double>(classes) && target == std::floor(target),
                "batch: target row {} must be a class in [0, {}), got {}", i, classes, target);
  }
}

template <class Scalar>
void check_frequencies(MatrixView<const Scalar> targets) {
  for (std::int64_t i = 0; i < targets.rows; ++i)
    for (const Scalar target : targets.row(i))
      STEIN_CHECK(target >= 0 && target <= 1, "batch: a Bernoulli likelihood needs targets in [0, 1], got {} in row {}",
                  target, i);
}

template <class Scalar>
void check_targets(const MlpSpec& spec, const Batch<Scalar>& batch, std::int64_t particles) {
  const std::int64_t rows = batch.targets_per_particle ? particles * batch.rows : batch.rows;
  const bool categorical = spec.likelihood == Likelihood::categorical;
  const std::int64_t columns = categorical || !batch.outputs.empty() ? 1 : spec.outputs;
  STEIN_CHECK(batch.targets.rows == rows && batch.targets.columns == columns,
              "batch: expected targets [{}, {}], got [{}, {}]", rows, columns, batch.targets.rows,
              batch.targets.columns);
  if (categorical) check_classes(batch.targets, spec.outputs);
  if (spec.likelihood == Likelihood::bernoulli) check_frequencies(batch.targets);
}

}  // namespace

template <class Scalar>
void check_inputs(const MlpSpec& spec, const Inputs<Scalar>& inputs) {
  STEIN_CHECK(inputs.tokens.data == nullptr, "batch: the network takes dense rows or positions of ones, got tokens");
  STEIN_CHECK((inputs.dense.data != nullptr) != (inputs.ones.data != nullptr),
              "batch: inputs must be dense or positions of ones, one of the two");
  if (inputs.one_hot()) return check_ones(inputs.ones, spec.inputs);
  STEIN_CHECK(inputs.dense.columns == spec.inputs, "batch: the network has {} inputs, got rows of {}", spec.inputs,
              inputs.dense.columns);
}

template <class Scalar>
void check_batch(const MlpSpec& spec, const Batch<Scalar>& batch, std::int64_t particles) {
  check_counts(batch);
  STEIN_CHECK(batch.inputs.carried.empty(), "batch: the network carries no state, got some");
  check_inputs(spec, batch.inputs);
  const std::int64_t input_rows = batch.inputs_per_particle ? particles * batch.rows : batch.rows;
  STEIN_CHECK(batch.inputs.rows() == input_rows, "batch: expected {} input rows, got {}", input_rows,
              batch.inputs.rows());
  if (batch.score == nullptr)
    check_targets(spec, batch, particles);
  else
    STEIN_CHECK(batch.targets.data == nullptr && batch.row_weights.empty() && batch.outputs.empty(),
                "batch: a score of its own leaves no place for targets, row weights or chosen outputs");

  const auto one_a_row = [&](std::size_t size) { return size == 0 || size == static_cast<std::size_t>(batch.rows); };
  const std::int64_t weights = std::ssize(batch.row_weights);
  const std::int64_t expected = batch.weights_per_particle ? particles * batch.rows : batch.rows;
  STEIN_CHECK(weights == expected || (weights == 0 && !batch.weights_per_particle),
              "batch: expected {} row weights, got {}", expected, weights);
  STEIN_CHECK(one_a_row(batch.outputs.size()), "batch: expected {} chosen outputs, got {}", batch.rows,
              batch.outputs.size());
  STEIN_CHECK(batch.outputs.empty() || spec.likelihood != Likelihood::categorical,
              "batch: a categorical likelihood needs all outputs of a row, not a chosen one");
  for (const std::int32_t output : batch.outputs)
    STEIN_CHECK(output >= 0 && output < spec.outputs, "batch: chosen output {} is outside [0, {})", output,
                spec.outputs);

  if (batch.input_mask.data == nullptr) return;
  STEIN_CHECK(!batch.inputs.one_hot(), "batch: an input mask needs dense inputs");
  STEIN_CHECK(batch.input_mask.rows == batch.rows && batch.input_mask.columns == spec.inputs,
              "batch: expected an input mask [{}, {}], got [{}, {}]", batch.rows, spec.inputs, batch.input_mask.rows,
              batch.input_mask.columns);
}

template void check_inputs(const MlpSpec&, const Inputs<float>&);
template void check_inputs(const MlpSpec&, const Inputs<double>&);
template void check_batch(const MlpSpec&, const Batch<float>&, std::int64_t);
template void check_batch(const MlpSpec&, const Batch<double>&, std::int64_t);

}  // namespace stein::inference
