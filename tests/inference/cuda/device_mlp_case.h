// Perceptrons on a device beside those on the host: what both say of one case.
#pragma once

#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "inference/cuda/networks_on_host.h"
#include "inference/mlp_case.h"
#include "inference/tensor_error.h"

namespace stein::inference {

/// Two orders of the same sums: 1e-5 of a tensor's length is what float drivers keep of the reference in double.
inline constexpr double mlp_tolerance = 1e-5;

/// Σ w sin f of all outputs, the weights those of particle, output and row, and c² of the constants for each.
class WaveScore final : public OutputScore<float> {
 public:
  double score(std::int64_t particle, std::int64_t first, MatrixView<const float> outputs,
               std::span<const float> constants, MatrixView<float> gradient,
               std::span<float> constant_gradient) const override {
    double sum = 0;
    for (std::int64_t i = 0; i < outputs.rows; ++i)
      for (std::int64_t k = 0; k < outputs.columns; ++k) {
        const auto weight = static_cast<float>(particle + 1 + k + (first + i) % 3);
        sum += weight * std::sin(outputs(i, k));
        gradient(i, k) = weight * std::cos(outputs(i, k));
      }
    const auto numbers = static_cast<float>(outputs.rows * outputs.columns);
    for (std::size_t c = 0; c < constants.size(); ++c) {
      sum += numbers * constants[c] * constants[c];
      constant_gradient[c] += 2 * numbers * constants[c];
    }
    return sum;
  }
};

struct MlpResult {
  Particles<float> gradients;
  std::vector<double> value;
  std::vector<float> outputs{};
};

/// What a network says of a case. Gradients begin as not-a-number.
inline MlpResult run(Model<float>& model, const MlpCase<float>& made, bool with_value = true,
                     const OutputScore<float>* score = nullptr) {
  constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t particles = made.weights.rows(), size = model.layout().size();
  Batch<float> batch = made.batch();
  batch.score = score;
  if (score != nullptr) batch.targets = {};
  Matrix<float> padded(particles, size), gradients(particles, size);
  add_padding<float>(model.layout(), made.weights.values(), padded.view());
  gradients.fill(nothing);
  const Matrix<float> weights = padded.to(model.device());
  gradients = gradients.to(model.device());
  MlpResult result{.gradients = made.weights,
                   .value = std::vector<double>(static_cast<std::size_t>(particles), nothing)};
  Evaluation<float> wanted{.gradient = gradients.view()};
  if (with_value) wanted.value = result.value;
  model.log_likelihood({weights.view(), 0}, batch, {}, wanted);
  const Matrix<float> home = gradients.to({});
  remove_padding<float>(model.layout(), home.view(), result.gradients.gradients());
  if (made.options.inputs_per_particle) return result;
  const std::int64_t rows = particles * batch.rows;
  result.outputs.assign(static_cast<std::size_t>(rows * made.spec.outputs), nothing);
  model.predict({weights.view(), 0}, batch.inputs, {result.outputs.data(), rows, made.spec.outputs});
  return result;
}

template <class Scalar>
double relative_error(const std::vector<Scalar>& found, const std::vector<Scalar>& expected) {
  double difference = 0, norm = 0;
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

inline void check_same(const MlpResult& found, const MlpResult& expected, const MlpCase<float>& made) {
  const MatrixView<const float> gradients = expected.gradients.gradients();
  Matrix<double> wide(gradients.rows, gradients.columns);
  for (std::int64_t i = 0; i < gradients.rows; ++i) std::ranges::copy(gradients.row(i), wide.row(i).begin());
  const TensorError worst = largest_tensor_error(made.weights.layout(), found.gradients.gradients(), wide.view());
  const MlpSpec& spec = made.spec;
  INFO(spec.inputs << " inputs, " << spec.hidden.size() << " hidden layers, " << spec.outputs << " outputs, "
                   << made.options.rows << " rows, " << made.options.ones << " ones, tensor " << worst.tensor);
  CHECK(worst.relative <= mlp_tolerance);
  CHECK(relative_error(found.value, expected.value) <= mlp_tolerance);
  CHECK(relative_error(found.outputs, expected.outputs) <= mlp_tolerance);
}

inline void check_parity(Device device, const MlpSpec& spec, const MlpCaseOptions& options) {
  const MlpCase<float> made = make_mlp_case<float>(spec, options);
  ParticleMlp host(spec);
  DeviceMlp tested(spec, device);
  check_same(run(tested, made), run(host, made), made);
}

}  // namespace stein::inference
