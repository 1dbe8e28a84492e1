// Both float drivers of the perceptron against the LibTorch reference in double.
#include <stein/core/parallel.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/torch/particle_mlp_reference.h>

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "inference/mlp_case.h"
#include "inference/tensor_error.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double tolerance = 1e-5;

struct Result {
  Particles<float> gradients;
  std::vector<double> value;
  std::vector<float> outputs;
  float largest_padding = 0;
};

/// What a float driver says of a case, its gradient without padding; every buffer starts as not-a-number.
Result run(Model<float>& model, const MlpCase<float>& made) {
  constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t particles = made.weights.rows(), size = model.layout().size();
  const Batch<float> batch = made.batch();
  AlignedBuffer<float> weights(static_cast<std::size_t>(particles * size)), gradients(weights);
  const MatrixView<float> weight_rows{weights.data(), particles, size},
      gradient_rows{gradients.data(), particles, size};
  add_padding<float>(model.layout(), made.weights.values(), weight_rows);
  std::fill_n(gradients.data(), gradients.size(), nothing);

  Result result{.gradients = made.weights,
                .value = std::vector<double>(static_cast<std::size_t>(particles), nothing),
                .outputs = {}};
  model.log_likelihood({weight_rows, 0}, batch, {}, {.gradient = gradient_rows, .value = result.value});
  remove_padding<float>(model.layout(), gradient_rows, result.gradients.gradients());
  for (const LayoutEntry& entry : model.layout().entries())
    for (std::int64_t m = 0; m < particles; ++m)
      for (std::int64_t i = 0; i < entry.extent(); ++i)
        if (i % entry.row_stride >= entry.columns())
          result.largest_padding = std::max(result.largest_padding, std::abs(gradient_rows(m, entry.offset + i)));
  if (made.options.inputs_per_particle) return result;
  const std::int64_t rows = particles * batch.rows;
  result.outputs.assign(static_cast<std::size_t>(rows * made.spec.outputs), nothing);
  model.predict({weight_rows, 0}, batch.inputs, {result.outputs.data(), rows, made.spec.outputs});
  return result;
}

template <class Scalar>
double relative_error(const std::vector<Scalar>& found, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(found[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

void check_network_parity(const MlpSpec& spec, const MlpCaseOptions& options) {
  MlpCase<double> exact = make_mlp_case<double>(spec, options);
  const MlpCase<float> made = make_mlp_case<float>(spec, options);
  ParticleMlpReference<double> exact_model(spec);
  std::vector<double> value(static_cast<std::size_t>(options.particles)), outputs;
  exact_model.log_likelihood(exact.weights.coordinates(), exact.batch(), {},
                             {.gradient = exact.weights.gradients(), .value = value});
  if (!options.inputs_per_particle) {
    outputs.resize(static_cast<std::size_t>(options.particles * options.rows * spec.outputs));
    exact_model.predict(exact.weights.coordinates(), exact.batch().inputs,
                        {outputs.data(), options.particles * options.rows, spec.outputs});
  }
  ParticleMlp fused(spec);
  ParticleMlpReference<float> reference(spec);
  for (Model<float>* model : {static_cast<Model<float>*>(&fused), static_cast<Model<float>*>(&reference)}) {
    const Result found = run(*model, made);
    const TensorError worst =
        largest_tensor_error(made.weights.layout(), found.gradients.gradients(), exact.weights.gradients());
    INFO((model == &fused ? "fused" : "reference in float")
         << ", " << spec.inputs << " inputs, " << spec.hidden.size() << " hidden layers, " << spec.outputs
         << " outputs, " << options.rows << " rows, " << options.ones << " ones, tensor " << worst.tensor);
    CHECK(worst.relative <= tolerance);
    CHECK(relative_error(found.value, value) <= tolerance);
    CHECK(relative_error(found.outputs, outputs) <= tolerance);
    CHECK(found.largest_padding == 0);
  }
}

}  // namespace

TEST_CASE("both float perceptrons are within 1e-5 of the reference in double for every shape",
          "[inference][mlp][parity]") {
  struct Shape {
    std::int64_t inputs;
    std::vector<std::int64_t> hidden;
    std::int64_t outputs;
  };
  const Shape shape = GENERATE(values<Shape>({{1, {}, 1},
                                              {3, {}, 20},
                                              {7, {5}, 3},
                                              {16, {32}, 1},
                                              {117, {50, 50}, 2},
                                              {13, {17, 1, 9}, 4},
                                              {64, {100}, 1},
                                              {5, {64, 3}, 10},
                                              {33, {31, 15, 7, 3}, 2},
                                              {2, {8, 8, 8, 8, 8, 8}, 16}}));
  const Activation activation = GENERATE(Activation::relu, Activation::tanh);
  const std::int64_t ones = GENERATE(0, 3);
  const Likelihood likelihood = GENERATE(Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli);
  if (likelihood == Likelihood::categorical && shape.outputs == 1) return;  // one class: every gradient is zero
  for (const std::int64_t rows : {1, 5, 67})
    check_network_parity({.inputs = shape.inputs,
                          .hidden = shape.hidden,
                          .outputs = shape.outputs,
                          .activation = activation,
                          .likelihood = likelihood,
                          .noise_precision = 2.5,
                          .learn_noise_precision = likelihood == Likelihood::gaussian && rows == 5},
                         {.rows = rows, .ones = ones, .data_size = 400});
}

TEST_CASE("both float perceptrons agree on masks, row weights and per-particle data", "[inference][mlp][parity]") {
  const Likelihood likelihood = GENERATE(Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli);
  const bool chosen = likelihood != Likelihood::categorical && GENERATE(false, true);
  const std::int64_t ones = GENERATE(0, 5);
  const bool inputs_per_particle = GENERATE(false, true), targets_per_particle = GENERATE(false, true);
  check_network_parity({.inputs = 37, .hidden = {19, 11}, .outputs = 3, .likelihood = likelihood},
                       {.particles = 4,
                        .rows = 33,
                        .ones = ones,
                        .chosen_outputs = chosen,
                        .row_weights = true,
                        .input_mask = ones == 0,
                        .inputs_per_particle = inputs_per_particle,
                        .targets_per_particle = targets_per_particle,
                        .weights_per_particle = inputs_per_particle != targets_per_particle});
}

TEST_CASE("both float perceptrons agree on the networks of the mushroom bandit", "[inference][mlp][parity]") {
  const std::int64_t ones = GENERATE(0, 22), rows = GENERATE(1, 64);
  check_network_parity({.inputs = 117, .hidden = {50, 50}, .outputs = 2, .learn_noise_precision = true},
                       {.particles = 20, .rows = rows, .ones = ones, .chosen_outputs = true, .data_size = 4096});
}

TEST_CASE("a wide perceptron is parted over all threads, with the same bits at any number of them",
          "[inference][mlp][parity]") {
  const Activation activation = GENERATE(Activation::relu, Activation::tanh);
  const MlpSpec spec{.inputs = 331,
                     .hidden = {301, 290},
                     .outputs = 7,
                     .activation = activation,
                     .likelihood = Likelihood::categorical};
  const MlpCaseOptions options{.particles = 1, .rows = 150, .data_size = 4096};  // 128 rows in the first pass, then 22
  const int threads = thread_count();
  ParticleMlp model(spec);
  set_thread_count(1);
  const Result one = run(model, make_mlp_case<float>(spec, options));
  for (const int count : {2, 3, 7}) {
    set_thread_count(count);
    const Result several = run(model, make_mlp_case<float>(spec, options));
    CHECK(several.value == one.value);
    CHECK(several.outputs == one.outputs);
    for (std::int64_t m = 0; m < options.particles; ++m)
      CHECK(std::ranges::equal(several.gradients.gradients().row(m), one.gradients.gradients().row(m)));
  }
  check_network_parity(spec, options);
  set_thread_count(threads);
}
