// Random networks and batches for the tests of the perceptron, and the perceptron as loops.
#pragma once

#include <stein/core/rng.h>
#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/particles.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace stein::inference {

/// What a case varies besides the network.
struct MlpCaseOptions {
  std::int64_t particles = 3;
  std::int64_t rows = 5;
  std::int64_t ones = 0;  ///< ones in a one-hot row; 0: dense inputs
  bool chosen_outputs = false;
  bool row_weights = false;
  bool input_mask = false;
  bool inputs_per_particle = false;
  bool targets_per_particle = false;
  bool weights_per_particle = false;  ///< of row_weights
  double data_size = 40;
  std::uint64_t seed = 1;
};

/// The numbers of a batch and of the weights, drawn as floats so that a float and a double driver see the same ones.
template <class Scalar>
struct MlpCase {
  MlpSpec spec;
  MlpCaseOptions options;
  Particles<Scalar> weights;
  std::vector<Scalar> dense{}, targets{}, row_weights{}, input_mask{};
  std::vector<std::int32_t> indices{}, outputs{};

  MatrixView<const Scalar> matrix(const std::vector<Scalar>& numbers, std::int64_t columns) const {
    return {numbers.data(), static_cast<std::int64_t>(numbers.size()) / columns, columns};
  }
  Batch<Scalar> batch() const {
    Batch<Scalar> batch;
    if (options.ones > 0)
      batch.inputs.ones = {indices.data(), static_cast<std::int64_t>(indices.size()) / options.ones, options.ones};
    else
      batch.inputs.dense = matrix(dense, spec.inputs);
    const bool one_column = options.chosen_outputs || spec.likelihood == Likelihood::categorical;
    batch.targets = matrix(targets, one_column ? 1 : spec.outputs);
    batch.outputs = outputs;
    batch.row_weights = row_weights;
    if (options.input_mask) batch.input_mask = matrix(input_mask, spec.inputs);
    batch.inputs_per_particle = options.inputs_per_particle;
    batch.targets_per_particle = options.targets_per_particle;
    batch.weights_per_particle = options.weights_per_particle;
    batch.rows = options.rows;
    batch.data_size = options.data_size;
    return batch;
  }
};

/// The network on one input, in loops.
struct PlainMlp {
  std::vector<double> outputs;
  double nearest_kink = std::numeric_limits<double>::infinity();  ///< smallest |input| of a ReLU
};

inline PlainMlp plain_mlp(const MlpSpec& spec, const Layout& layout, std::span<const double> weights,
                          std::vector<double> input) {
  PlainMlp result;
  for (std::int64_t layer = 0; layer < spec.layers(); ++layer) {
    const LayoutEntry& weight = layout.at(fmt::format("layer{}.weight", layer));
    const LayoutEntry& bias = layout.at(fmt::format("layer{}.bias", layer));
    std::vector<double> output(static_cast<std::size_t>(weight.columns()));
    for (std::int64_t j = 0; j < weight.columns(); ++j) {
      double sum = weights[bias.offset + j];
      for (std::int64_t i = 0; i < weight.rows(); ++i)
        sum += input[i] * weights[weight.offset + i * weight.row_stride + j];
      output[j] = sum;
    }
    if (layer + 1 < spec.layers())
      for (double& number : output) {
        if (spec.activation == Activation::relu) result.nearest_kink = std::min(result.nearest_kink, std::abs(number));
        number = spec.activation == Activation::relu ? std::max(number, 0.0) : std::tanh(number);
      }
    input = output;
  }
  result.outputs = input;
  return result;
}

/// log p(y | f) of one number or class, from the textbook.
inline double plain_log_density(const MlpSpec& spec, double noise_precision, const std::vector<double>& outputs,
                                std::int64_t output, double target) {
  switch (spec.likelihood) {
    case Likelihood::gaussian: {
      const double deviation = 1 / std::sqrt(noise_precision), z = (target - outputs[output]) / deviation;
      return -std::log(deviation * std::sqrt(2 * std::numbers::pi)) - z * z / 2;
    }
    case Likelihood::categorical: {
      double sum = 0;
      for (const double logit : outputs) sum += std::exp(logit);
      return outputs[static_cast<std::size_t>(target)] - std::log(sum);
    }
    case Likelihood::bernoulli: {
      const double p = 1 / (1 + std::exp(-outputs[output]));
      return target * std::log(p) + (1 - target) * std::log(1 - p);
    }
  }
  return 0;
}

/// Input row `row` of particle `particle` of a batch, mask applied, as dense numbers.
template <class Scalar>
std::vector<double> plain_input(const MlpSpec& spec, const Batch<Scalar>& batch, std::int64_t particle,
                                std::int64_t row) {
  std::vector<double> input(static_cast<std::size_t>(spec.inputs), 0.0);
  const std::int64_t place = batch.inputs_per_particle ? particle * batch.rows + row : row;
  if (batch.inputs.one_hot())
    for (const std::int32_t index : batch.inputs.ones.row(place)) input[index] += 1;
  else
    for (std::int64_t i = 0; i < spec.inputs; ++i)
      input[i] = batch.inputs.dense(place, i) * (batch.input_mask.data == nullptr ? 1 : batch.input_mask(row, i));
  return input;
}

/// (N/n) Σ_i w_i log p(y_i | x_i) of one particle, in loops.
inline double plain_log_likelihood(const MlpSpec& spec, const Layout& layout, std::span<const double> weights,
                                   const Batch<double>& batch, std::int64_t particle) {
  const double noise_precision =
      spec.learn_noise_precision ? std::exp(weights[layout.at("log_noise_precision").offset]) : spec.noise_precision;
  double sum = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::vector<double> outputs =
        plain_mlp(spec, layout, weights, plain_input(spec, batch, particle, row)).outputs;
    const std::int64_t place = batch.targets_per_particle ? particle * batch.rows + row : row;
    double density = 0;
    for (std::int64_t k = 0; k < batch.targets.columns; ++k)
      density += plain_log_density(spec, noise_precision, outputs, batch.outputs.empty() ? k : batch.outputs[row],
                                   batch.targets(place, k));
    const std::int64_t weight = batch.weights_per_particle ? particle * batch.rows + row : row;
    sum += (batch.row_weights.empty() ? 1 : batch.row_weights[weight]) * density;
  }
  return batch.data_size / static_cast<double>(batch.rows) * sum;
}

/// A random case; every input of a ReLU lies at least 1e-3 away from the kink.
template <class Scalar>
MlpCase<Scalar> make_mlp_case(const MlpSpec& spec, const MlpCaseOptions& options) {
  constexpr double distance_to_kink = 1e-3;
  Draws draws({.seed = options.seed, .stream = Stream::test}, 0);
  const auto normal = [&] { return static_cast<double>(static_cast<float>(draws.normal())); };
  const std::int64_t particles = options.particles, rows = options.rows;
  MlpCase<Scalar> made{.spec = spec, .options = options, .weights = {mlp_layout(spec), particles}};
  const Layout& layout = made.weights.layout();

  std::vector<std::vector<double>> thetas(particles, std::vector<double>(static_cast<std::size_t>(layout.size())));
  for (std::int64_t m = 0; m < particles; ++m)
    for (const LayoutEntry& entry : layout.entries())
      for (std::int64_t i = 0; i < entry.size(); ++i) {
        const double scale = entry.role == Role::weight ? 1.5 / std::sqrt(static_cast<double>(entry.rows())) : 0.3;
        thetas[m][entry.offset + i] = static_cast<float>(scale * normal());
        made.weights.values()(m, entry.offset + i) = static_cast<Scalar>(thetas[m][entry.offset + i]);
      }

  if (options.row_weights)
    for (std::int64_t i = 0; i < (options.weights_per_particle ? particles : 1) * rows; ++i)
      made.row_weights.push_back(static_cast<Scalar>(normal()));
  if (options.input_mask)
    for (std::int64_t i = 0; i < rows * spec.inputs; ++i)
      made.input_mask.push_back(draws.uniform() < 0.7 ? Scalar(1.25) : Scalar(0));
  if (options.chosen_outputs)
    for (std::int64_t i = 0; i < rows; ++i)
      made.outputs.push_back(static_cast<std::int32_t>(draws.integer(static_cast<std::uint32_t>(spec.outputs))));

  const std::int64_t input_groups = options.inputs_per_particle ? particles : 1;
  for (std::int64_t place = 0; place < input_groups * rows; ++place)
    for (bool clear = false; !clear;) {
      std::vector<Scalar> numbers;
      std::vector<std::int32_t> positions;
      std::vector<double> input(static_cast<std::size_t>(spec.inputs), 0.0);
      for (std::int64_t i = 0; i < options.ones; ++i) {
        positions.push_back(static_cast<std::int32_t>(draws.integer(static_cast<std::uint32_t>(spec.inputs))));
        input[positions.back()] += 1;
      }
      for (std::int64_t i = 0; options.ones == 0 && i < spec.inputs; ++i) {
        input[i] = normal();
        numbers.push_back(static_cast<Scalar>(input[i]));
        if (options.input_mask) input[i] *= made.input_mask[(place % rows) * spec.inputs + i];
      }
      clear = std::ranges::all_of(thetas, [&](const std::vector<double>& theta) {
        return plain_mlp(spec, layout, theta, input).nearest_kink >= distance_to_kink;
      });
      if (!clear) continue;
      made.dense.insert(made.dense.end(), numbers.begin(), numbers.end());
      made.indices.insert(made.indices.end(), positions.begin(), positions.end());
    }

  const std::int64_t target_rows = (options.targets_per_particle ? particles : 1) * rows;
  const bool one_column = options.chosen_outputs || spec.likelihood == Likelihood::categorical;
  for (std::int64_t i = 0; i < target_rows * (one_column ? 1 : spec.outputs); ++i) {
    if (spec.likelihood == Likelihood::gaussian) made.targets.push_back(static_cast<Scalar>(normal()));
    if (spec.likelihood == Likelihood::categorical)
      made.targets.push_back(static_cast<Scalar>(draws.integer(static_cast<std::uint32_t>(spec.outputs))));
    if (spec.likelihood == Likelihood::bernoulli) made.targets.push_back(static_cast<Scalar>(draws.integer(2)));
  }
  return made;
}

}  // namespace stein::inference
