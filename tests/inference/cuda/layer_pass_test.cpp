// Large perceptrons on a device, layer by layer: with products of the host on the fenced device, and with the library
// of a GPU where there is one.
#include <stein/inference/models/batched_product.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>
#include <limits>

#include "inference/cuda/device_mlp_case.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr std::int64_t few_bytes = 4000;  ///< that a block shares, so that small networks are large ones

/// That networks of a few units, all of whose passes are products, are those of the host.
void check_layers(const MlpSpec& spec, const MlpCaseOptions& options) {
  const test::SharedBytes shared(few_bytes);
  REQUIRE_FALSE(weights_fit(MlpShape(spec), few_bytes));
  const MlpCase<float> made = make_mlp_case<float>(spec, options);
  ParticleMlp host(spec);
  DeviceMlp tested(spec, test::fenced_networks(), true);
  check_same(run(tested, made), run(host, made), made);
}

/// Gradients and sums of a launch in chunks of so many rows.
struct Chunked {
  std::vector<float> gradient, outputs;
  std::vector<double> sums;
};
Chunked in_chunks(const MlpCase<float>& made, std::int64_t rows) {
  const MlpShape shape(made.spec);
  PackedBatch packed;
  packed.assign(shape, made.batch(), made.options.particles, {}, false);
  constexpr float nothing = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t networks = made.options.particles, stride = made.weights.values().stride;
  Chunked found{.gradient = std::vector<float>(static_cast<std::size_t>(networks * stride), nothing),
                .outputs = std::vector<float>(
                    static_cast<std::size_t>(networks * made.options.rows * made.spec.outputs), nothing),
                .sums = std::vector<double>(static_cast<std::size_t>(2 * networks), nothing)};
  std::vector<float> units(static_cast<std::size_t>(networks * rows * 200), nothing), slopes = units, dense = units;
  std::vector<double> row_sums(static_cast<std::size_t>(2 * networks * rows), nothing);
  MlpLaunch launch{.shape = shape,
                   .rows = packed.rows_at(packed.bytes().data()),
                   .networks = networks,
                   .weights = made.weights.values().data,
                   .weight_stride = stride,
                   .scale = 2,
                   .gradient = found.gradient.data(),
                   .gradient_stride = stride,
                   .layers = {.rows = rows,
                              .units = units.data(),
                              .slopes = slopes.data(),
                              .inputs = made.options.ones > 0 ? dense.data() : nullptr,
                              .row_sums = row_sums.data()},
                   .sums = found.sums.data()};
  test::pass_on_host(launch);
  launch.gradient = nullptr, launch.sums = nullptr, launch.outputs = found.outputs.data();
  test::pass_on_host(launch);
  return found;
}

/// f(r, c, i) in row r and column c of matrix i, stored as the operand says.
template <class Number>
std::vector<float> filled(const ProductMatrix<const float>& like, std::int64_t count, std::int64_t rows,
                          std::int64_t columns, const Number& number) {
  std::vector<float> numbers(
      static_cast<std::size_t>(count * std::max<std::int64_t>(like.step, 1) + rows * columns * 2 + 64));
  for (std::int64_t i = 0; i < (like.step == 0 ? 1 : count); ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        numbers[static_cast<std::size_t>(i * like.step + (like.turned ? c * like.stride + r : r * like.stride + c))] =
            static_cast<float>(number(r, c, i));
  return numbers;
}

/// One product of small whole numbers, which is exact in any order, against sums written down here.
template <class Multiply>
void check_product(bool turn_a, bool turn_b, bool shared_a, bool adds, const Multiply& multiply) {
  constexpr std::int64_t count = 3, rows = 5, columns = 7, inner = 11;
  const auto a = [&](std::int64_t r, std::int64_t c, std::int64_t i) { return (3 * r + 5 * c + 7 * i) % 9 - 4; };
  const auto b = [&](std::int64_t r, std::int64_t c, std::int64_t i) { return (2 * r + 7 * c + i) % 11 - 5; };
  BatchedProduct product{.count = count, .rows = rows, .columns = columns, .inner = inner};
  product.a = {.stride = (turn_a ? rows : inner) + 1, .step = shared_a ? 0 : 90, .turned = turn_a};
  product.b = {.stride = (turn_b ? inner : columns) + 3, .step = 120, .turned = turn_b};
  product.c = {.stride = columns + 2, .step = 60};
  product.adds = adds;
  const std::vector<float> left = filled(product.a, count, rows, inner, a),
                           right = filled(product.b, count, inner, columns, b);
  std::vector<float> result(static_cast<std::size_t>(count * product.c.step), 100);
  multiply(product, left, right, result);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < product.c.stride; ++c) {
        std::int64_t expected = c < columns && !adds ? 0 : 100;
        for (std::int64_t k = 0; c < columns && k < inner; ++k) expected += a(r, k, shared_a ? 0 : i) * b(k, c, i);
        CAPTURE(turn_a, turn_b, shared_a, adds, i, r, c);
        REQUIRE(result[static_cast<std::size_t>(i * product.c.step + r * product.c.stride + c)] ==
                static_cast<float>(expected));
      }
}

template <class Multiply>
void check_products(const Multiply& multiply) {
  for (const bool turn_a : {false, true})
    for (const bool turn_b : {false, true})
      for (const bool shared_a : {false, true})
        for (const bool adds : {false, true}) check_product(turn_a, turn_b, shared_a, adds, multiply);
}

/// Whether gradients of a large network come out with the same bits twice.
void check_same_bits(const MlpSpec& spec, const MlpCase<float>& made, Device device) {
  DeviceMlp first(spec, device), second(spec, device);
  const MlpResult a = run(first, made), b = run(second, made);
  for (std::int64_t i = 0; i < made.options.particles; ++i)
    CHECK((std::ranges::equal(a.gradients.gradients().row(i), b.gradients.gradients().row(i))));
}

}  // namespace

TEST_CASE("products of matrices on the host have every form that layers ask for", "[inference][mlp][cuda]") {
  check_products(
      [](BatchedProduct product, const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) {
        product.a.data = a.data(), product.b.data = b.data(), product.c.data = c.data();
        test::multiply_on_host(product);
      });
}

TEST_CASE("the library of products loads where cuBLASLt is installed, with a GPU or without", "[inference][cuda]") {
  CHECK(test::products_of({.kind = Device::Kind::cuda}).name == "cuda");
  CHECK(product_driver({}) == nullptr);
}

TEST_CASE("products of matrices on a GPU are those of the host", "[inference][mlp][cuda][gpu]") {
  const Device device = test::gpu();
  const ProductDriver& products = test::products_of(device);
  check_products([&](BatchedProduct product, const std::vector<float>& a, const std::vector<float>& b,
                     std::vector<float>& c) {
    const auto there = [&](const std::vector<float>& numbers) {
      DeviceBlock block(device, numbers.size() * sizeof(float));
      block.copy_in(numbers.data());
      return block;
    };
    const DeviceBlock left = there(a), right = there(b), result = there(c);
    product.a.data = static_cast<const float*>(left.data()), product.b.data = static_cast<const float*>(right.data());
    product.c.data = static_cast<float*>(result.data());
    products.multiply(device.index, product);
    result.copy_out(c.data());
  });
}

TEST_CASE("large perceptrons by products of matrices are those of the host", "[inference][mlp][cuda][parity]") {
  for (const std::vector<std::int64_t>& hidden : std::vector<std::vector<std::int64_t>>{{}, {41}, {31, 17, 9}})
    for (const Activation activation : {Activation::relu, Activation::tanh})
      for (const Likelihood likelihood : {Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli})
        for (const std::int64_t rows : {1, 5, 67})
          check_layers({.inputs = 53,
                        .hidden = hidden,
                        .outputs = 20,
                        .activation = activation,
                        .likelihood = likelihood,
                        .noise_precision = 2.5,
                        .learn_noise_precision = likelihood == Likelihood::gaussian && rows != 1},
                       {.rows = rows, .data_size = 400});
}

namespace {

/// Distance of gradients of all particles, as a share of the length of the second.
double share_apart(const MlpResult& found, const MlpResult& expected) {
  double apart = 0, length = 0;
  for (std::int64_t i = 0; i < expected.gradients.rows(); ++i)
    for (std::int64_t q = 0; q < expected.gradients.layout().size(); ++q) {
      apart += std::pow(found.gradients.gradients()(i, q) - expected.gradients.gradients()(i, q), 2);
      length += std::pow(expected.gradients.gradients()(i, q), 2);
    }
  return std::sqrt(apart / length);
}

/// A large perceptron whose factors are rounded has the gradients of single precision but for that: those of tf32 are
/// nearer.
void check_precisions(Device device) {
  const auto gradients = [&](Precision precision) {
    const MlpSpec spec{.inputs = 53,
                       .hidden = {600, 600},
                       .outputs = 20,
                       .likelihood = Likelihood::categorical,
                       .precision = precision};
    DeviceMlp model(spec, device, true);
    return run(model, make_mlp_case<float>(spec, {.particles = 2, .rows = 33, .data_size = 400}));
  };
  const MlpResult single = gradients(Precision::single);
  const double coarse = share_apart(gradients(Precision::bfloat16), single),
               fine = share_apart(gradients(Precision::tf32), single);
  CAPTURE(coarse, fine);
  CHECK(coarse < 0.03);
  CHECK(coarse > 4 * fine);
  CHECK(fine > 1e-5);
}

}  // namespace

TEST_CASE("large perceptrons whose factors are rounded differ by that from single precision",
          "[inference][mlp][cuda]") {
  check_precisions(test::fenced_networks());
}

TEST_CASE("large perceptrons on a GPU whose factors are rounded differ by that from single precision",
          "[inference][mlp][cuda][gpu]") {
  check_precisions(test::gpu());
}

TEST_CASE("large perceptrons agree with the host's on masks, row weights and per-particle data",
          "[inference][mlp][cuda][parity]") {
  for (const Likelihood likelihood : {Likelihood::gaussian, Likelihood::categorical, Likelihood::bernoulli})
    for (const bool chosen : {false, true})
      for (const bool own_inputs : {false, true})
        for (const bool own_targets : {false, true}) {
          if (chosen && likelihood == Likelihood::categorical) continue;
          check_layers({.inputs = 37, .hidden = {29, 11}, .outputs = 3, .likelihood = likelihood, .constants = 2},
                       {.particles = 4,
                        .rows = 13,
                        .chosen_outputs = chosen,
                        .row_weights = true,
                        .input_mask = true,
                        .inputs_per_particle = own_inputs,
                        .targets_per_particle = own_targets,
                        .weights_per_particle = own_inputs != own_targets});
        }
}

TEST_CASE("inputs that are positions go through large perceptrons as rows of zeros and ones",
          "[inference][mlp][cuda][parity]") {
  const MlpSpec spec{.inputs = 53, .hidden = {31, 9}, .outputs = 3};
  for (const std::int64_t ones : {1, 4, 60})  // of 53: some columns twice
    for (const bool own_inputs : {false, true})
      check_layers(spec, {.rows = 13, .ones = ones, .inputs_per_particle = own_inputs});
  const test::SharedBytes shared(few_bytes);
  const MlpCase<float> positions = make_mlp_case<float>(spec, {.rows = 13, .ones = 4});
  MlpCase<float> dense = positions;
  dense.options.ones = 0;
  dense.dense.assign(static_cast<std::size_t>(13 * spec.inputs), 0);
  for (std::size_t k = 0; k < positions.indices.size(); ++k)
    ++dense.dense[k / 4 * static_cast<std::size_t>(spec.inputs) + static_cast<std::size_t>(positions.indices[k])];
  DeviceMlp tested(spec, test::fenced_networks(), true);
  const MlpResult found = run(tested, positions), expected = run(tested, dense);
  CHECK(found.value == expected.value);
  CHECK(found.outputs == expected.outputs);
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK((std::ranges::equal(found.gradients.gradients().row(i), expected.gradients.gradients().row(i))));
}

TEST_CASE("samples with rows of their own go through large perceptrons without products",
          "[inference][mlp][cuda][parity]") {
  const test::SharedBytes shared(few_bytes);
  const MlpSpec spec{.inputs = 53, .hidden = {31, 9}, .outputs = 3};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.particles = 2, .rows = 5, .inputs_per_particle = true});
  DeviceMlp tested(spec, test::fenced_networks(), true), expected(spec, test::fenced_networks(), false);
  Matrix<float> twice(4, expected.layout().size());
  for (std::int64_t i = 0; i < 4; ++i) std::ranges::copy(made.weights.values().row(i / 2), twice.row(i).begin());
  const Matrix<float> weights = twice.to(tested.device());
  Batch<float> batch = made.batch();
  batch.weight_samples = 2;
  std::vector<double> found(4), value(4);
  tested.log_likelihood({weights.view(), 0}, batch, {}, {.value = found});
  expected.log_likelihood({weights.view(), 0}, batch, {}, {.value = value});
  CHECK(found == value);
}

TEST_CASE("a score of the batch's own sees outputs of large perceptrons, and its slopes go through them",
          "[inference][mlp][cuda][parity]") {
  const WaveScore score;
  const test::SharedBytes shared(few_bytes);
  for (const bool learned : {false, true}) {
    const MlpSpec spec{.inputs = 53, .hidden = {31, 9}, .outputs = 3, .constants = 2, .learn_noise_precision = learned};
    const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 13});
    ParticleMlp host(spec);
    DeviceMlp tested(spec, test::fenced_networks(), true);
    check_same(run(tested, made, true, &score), run(host, made, true, &score), made);
  }
}

TEST_CASE("chunks of rows add up to the pass over all of them", "[inference][mlp][cuda]") {
  const MlpSpec spec{.inputs = 13, .hidden = {17, 9}, .outputs = 4, .learn_noise_precision = true};
  for (const auto& [own, ones] :
       std::vector<std::pair<bool, std::int64_t>>{{false, 0}, {true, 0}, {false, 3}, {true, 3}}) {
    const MlpCase<float> made = make_mlp_case<float>(
        spec, {.rows = 20, .ones = ones, .row_weights = true, .inputs_per_particle = own, .targets_per_particle = own});
    const Chunked whole = in_chunks(made, 20);
    for (const std::int64_t rows : {1, 7, 10, 19}) {
      const Chunked found = in_chunks(made, rows);
      CAPTURE(own, ones, rows);
      CHECK((found.outputs == whole.outputs));
      CHECK(relative_error(found.sums, whole.sums) <= 1e-12);
      double worst = 0;
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t q = 0; q < made.weights.size(); ++q) {
          const auto at = static_cast<std::size_t>(i * made.weights.values().stride + q);
          worst = std::max(worst, std::abs(double{found.gradient[at]} - whole.gradient[at]) /
                                      (1 + std::abs(double{whole.gradient[at]})));
        }
      CHECK(worst <= mlp_tolerance);
    }
  }
}

TEST_CASE("large perceptrons on a GPU are those of the host, with the same bits every time",
          "[inference][mlp][cuda][parity][gpu]") {
  const Device device = test::gpu();
  static_cast<void>(test::products_of(device));
  for (const std::int64_t inputs : {784, 301}) {  // rows that begin on 16 bytes, and others
    const MlpSpec spec{.inputs = inputs, .hidden = {400, 203}, .outputs = 10, .likelihood = Likelihood::categorical};
    const MlpCase<float> made = make_mlp_case<float>(spec, {.particles = 5, .rows = 100});
    ParticleMlp host(spec);
    DeviceMlp tested(spec, device);
    check_same(run(tested, made), run(host, made), made);
    check_same_bits(spec, made, device);
  }
}
