// Perceptrons on devices against those on the host: the bodies of the kernels on the fenced device, kernels where there
// is a GPU.
#include <catch2/catch.hpp>
#include <string>

#include "inference/cuda/device_mlp_case.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// One unit, widths that are no multiple of four, one row, more rows than a tile, every likelihood and activation.
void check_network_shapes(Device device) {
  struct Shape {
    std::int64_t inputs;
    std::vector<std::int64_t> hidden;
    std::int64_t outputs;
  };
  const std::vector<Shape> shapes{{1, {}, 1},
                                  {3, {}, 20},
                                  {7, {5}, 3},
                                  {16, {32}, 1},
                                  {13, {17, 1, 9}, 4},
                                  {5, {64, 3}, 10},
                                  {33, {31, 15, 7, 3}, 2}};
  for (const Shape& shape : shapes)
    for (const Activation activation : {Activation::relu, Activation::tanh})
      for (const Likelihood likelihood : {Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli})
        for (const std::int64_t ones : {0, 3})
          for (const std::int64_t rows : {1, 5, 67}) {
            if (likelihood == Likelihood::categorical && shape.outputs == 1) continue;  // every gradient is zero
            check_parity(device,
                         {.inputs = shape.inputs,
                          .hidden = shape.hidden,
                          .outputs = shape.outputs,
                          .activation = activation,
                          .likelihood = likelihood,
                          .noise_precision = 2.5,
                          .learn_noise_precision = likelihood == Likelihood::gaussian && rows != 1},
                         {.rows = rows, .ones = ones, .data_size = 400});
          }
}

void check_data(Device device) {
  for (const Likelihood likelihood : {Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli})
    for (const bool chosen : {false, true})
      for (const std::int64_t ones : {0, 5})
        for (const bool own_inputs : {false, true})
          for (const bool own_targets : {false, true}) {
            if (chosen && likelihood == Likelihood::categorical) continue;
            check_parity(device, {.inputs = 37, .hidden = {19, 11}, .outputs = 3, .likelihood = likelihood},
                         {.particles = 4,
                          .rows = 73,
                          .ones = ones,
                          .chosen_outputs = chosen,
                          .row_weights = true,
                          .input_mask = ones == 0,
                          .inputs_per_particle = own_inputs,
                          .targets_per_particle = own_targets,
                          .weights_per_particle = own_inputs != own_targets});
          }
}

/// The networks of the mushroom bandit; of a batch that is one share a tile, and of one that gives shares two tiles.
void check_sizes(Device device) {
  const MlpSpec mushroom{.inputs = 117, .hidden = {50, 50}, .outputs = 2, .learn_noise_precision = true};
  for (const std::int64_t ones : {0, 22})
    check_parity(device, mushroom,
                 {.particles = 20, .rows = 64, .ones = ones, .chosen_outputs = true, .data_size = 4096});
  check_parity(device, {.inputs = 5, .hidden = {6}, .outputs = 2, .learn_noise_precision = true},
               {.rows = 1500, .ones = 2});
}

/// Values that are sent home are those that are waited for, where a row has one sum and where it has several.
void check_late_values(Device device) {
  for (const std::int64_t rows : {9, 1500}) {
    CAPTURE(rows);
    const MlpCase<float> made = make_mlp_case<float>(
        {.inputs = 5, .hidden = {6}, .outputs = 2, .learn_noise_precision = true}, {.particles = 4, .rows = rows});
    DeviceMlp model(made.spec, device);
    REQUIRE(model.answers_late());
    const std::vector<double> expected = run(model, made).value;
    Matrix<float> padded(4, model.layout().size());
    add_padding<float>(model.layout(), made.weights.values(), padded.view());
    const Matrix<float> weights = padded.to(device);
    Matrix<float> gradients(4, model.layout().size(), device);
    LateValues late(6);
    model.log_likelihood({weights.view(), 0}, made.batch(), {},
                         {.gradient = gradients.view(), .late = &late, .late_row = 1});
    model.log_likelihood({weights.view().block(1, 1), 1}, made.batch(), {},
                         {.gradient = gradients.view().block(0, 1), .late = &late, .late_row = 5});
    const std::span<const double> found = late.wait();
    for (std::size_t i = 0; i < 4; ++i) CHECK(found[1 + i] == expected[i]);
    CHECK(found[0] == 0);
    CHECK(found[5] == Approx(expected[1]).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("values of perceptrons come home while the host goes on", "[inference][mlp][cuda]") {
  check_late_values(test::fenced_networks());
}

TEST_CASE("values of perceptrons on a GPU come home while the host goes on", "[inference][mlp][cuda][gpu]") {
  check_late_values(test::gpu());
}

TEST_CASE("perceptrons on a device are those of the host for every shape", "[inference][mlp][cuda][parity]") {
  check_network_shapes(test::fenced_networks());
}

TEST_CASE("perceptrons on a device agree with the host's on masks, row weights and per-particle data",
          "[inference][mlp][cuda][parity]") {
  check_data(test::fenced_networks());
}

TEST_CASE("perceptrons on a device are those of the host for a bandit's minibatch and for many rows",
          "[inference][mlp][cuda][parity]") {
  check_sizes(test::fenced_networks());
}

TEST_CASE("perceptrons on a GPU are those of the host", "[inference][mlp][cuda][parity][gpu]") {
  check_network_shapes(test::gpu());
  check_data(test::gpu());
  check_sizes(test::gpu());
  check_parity(test::gpu(), {.inputs = 300, .hidden = {200, 150}, .outputs = 10, .likelihood = Likelihood::categorical},
               {.rows = 70});
}
