// Structured weights on devices against those on the host: the bodies of the kernels on the fenced device, kernels
// where there is a GPU.
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/parameterizations/device_matrix_gaussian.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>
#include <stein/inference/storage/host_copy.h>
#include <stein/inference/targets/network_posterior.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"
#include "inference/tensor_error.h"

using namespace stein;
using namespace stein::inference;

namespace {

constexpr double tolerance = 1e-5;

Matrix<double> wide(MatrixView<const float> rows) {
  Matrix<double> copy(rows.rows, rows.columns);
  for (std::int64_t i = 0; i < rows.rows; ++i) std::ranges::copy(rows.row(i), copy.row(i).begin());
  return copy;
}

Matrix<float> drawn(std::int64_t rows, std::int64_t columns, std::uint64_t seed, float scale) {
  Matrix<float> matrix(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    fill_normal(matrix.row(i), {.seed = seed, .stream = Stream::test}, static_cast<std::uint32_t>(i));
    for (float& number : matrix.row(i)) number *= scale;
  }
  return matrix;
}

/// Weights and slopes of three networks, the host's without padding.
/// @param products  of matrices, where they are large
void check_parity(Device device, const MlpSpec& spec, const MatrixGaussianOptions& options, bool products = false) {
  const Layout weights = mlp_layout(spec);
  const MatrixGaussian host(weights, options);
  const DeviceMatrixGaussian tested(weights, options, device, products);
  const std::int64_t size = tested.coordinates().size();
  REQUIRE(host.coordinates().size() == size);
  const Matrix<float> coordinates = drawn(3, size, 1, 0.5f), slopes = drawn(3, weights.size(), 2, 1);
  Matrix<float> expected(3, weights.size()), expected_slopes(3, size);
  const auto trace = host.make_trace();
  host.forward({coordinates.view(), 0}, {}, expected.view(), *trace);
  host.pullback({coordinates.view(), 0}, {}, slopes.view(), expected_slopes.view(), *trace);

  const Matrix<float> there = coordinates.to(device), slopes_there = slopes.to(device);
  Matrix<float> found(3, weights.size(), device), found_slopes(3, size, device);
  found_slopes.fill(std::numeric_limits<float>::quiet_NaN());
  const auto own = tested.make_trace();
  tested.forward({there.view(), 0}, {}, found.view(), *own);
  tested.pullback({there.view(), 0}, {}, slopes_there.view(), found_slopes.view(), *own);
  const TensorError of_weights =
      largest_tensor_error(weights, found.to({}).view(), wide(std::as_const(expected).view()).view());
  const TensorError of_slopes = largest_tensor_error(tested.coordinates(), found_slopes.to({}).view(),
                                                     wide(std::as_const(expected_slopes).view()).view());
  CAPTURE(spec.inputs, options.reflectors, of_weights.tensor, of_slopes.tensor);
  CHECK(of_weights.relative <= tolerance);
  CHECK(of_slopes.relative <= tolerance);
}

/// One unit, sides shorter than the reflectors, matrices wider than a block has threads, no reflectors, no scales.
void check_structured_shapes(Device device, bool products = false) {
  for (const std::int64_t reflectors : {0, 1, 3, 8})
    for (const Scales scales : {Scales::free, Scales::identity})
      for (const MlpSpec& spec :
           {MlpSpec{.inputs = 1, .outputs = 1}, MlpSpec{.inputs = 7, .hidden = {5}, .outputs = 2, .constants = 3},
            MlpSpec{.inputs = 300, .hidden = {6}, .outputs = 1, .learn_noise_precision = true},
            MlpSpec{.inputs = 3, .hidden = {290}, .outputs = 2},
            MlpSpec{.inputs = 117, .hidden = {50, 50}, .outputs = 2}})
        check_parity(device, spec, {.reflectors = reflectors, .scales = scales}, products);
}

/// Of MNIST: nothing that a block shares on any GPU.
void check_large_matrices(Device device) {
  for (const std::int64_t reflectors : {1, 5})
    check_parity(device, {.inputs = 784, .hidden = {400}, .outputs = 10}, {.reflectors = reflectors}, true);
}

}  // namespace

TEST_CASE("structured weights on a device are those of the host, forward and back", "[inference][cuda][parity]") {
  check_structured_shapes(test::fenced_networks());
}

TEST_CASE("structured weights on a GPU are those of the host, forward and back", "[inference][cuda][parity][gpu]") {
  check_structured_shapes(test::gpu());
}

TEST_CASE("structured weights that products of matrices turn are those of the host, forward and back",
          "[inference][cuda][parity]") {
  const Device device = test::fenced_networks();
  {
    const test::SharedBytes none(0);  // so that small matrices are large ones
    check_structured_shapes(device, true);
  }
  check_large_matrices(device);
}

TEST_CASE("structured weights that products of matrices turn on a GPU are those of the host, forward and back",
          "[inference][cuda][parity][gpu]") {
  check_large_matrices(test::gpu());
}

TEST_CASE("structured weights by products take as much memory as they say", "[inference][cuda]") {
  const MlpSpec spec{.inputs = 17, .hidden = {11, 4}, .outputs = 3};
  const MatrixGaussianLayout layout = matrix_gaussian_layout(mlp_layout(spec), {.reflectors = 5});
  const StructurePlaces places(layout);
  const Matrix<float> coordinates = drawn(2, layout.coordinates.size(), 1, 0.5f),
                      slopes = drawn(2, layout.weights.size(), 2, 1);
  Matrix<float> weights(2, layout.weights.size()), gradient(2, layout.coordinates.size());
  constexpr float untouched = 77;
  constexpr std::size_t fence = 8;
  std::vector<float> kept(static_cast<std::size_t>(2 * places.kept_floats()) + fence, untouched),
      working(static_cast<std::size_t>(2 * places.working_floats()) + fence, untouched);
  StructureLaunch launch{.places = places,
                         .networks = 2,
                         .coordinates = coordinates.view().data,
                         .coordinate_stride = coordinates.view().stride,
                         .weights = weights.view().data,
                         .weight_stride = weights.view().stride,
                         .kept = kept.data(),
                         .working = working.data()};
  test::structure_on_host(launch);
  launch.slopes = slopes.view().data, launch.slope_stride = slopes.view().stride;
  launch.gradient = gradient.view().data, launch.gradient_stride = gradient.view().stride;
  test::structure_on_host(launch);
  for (const auto* memory : {&kept, &working})
    CHECK(std::ranges::count(std::span(*memory).last(fence + 1), untouched) == fence);
}

TEST_CASE("threads of structured weights that run in another order give the same bits", "[inference][cuda]") {
  const MlpSpec spec{.inputs = 17, .hidden = {11}, .outputs = 3};
  const MatrixGaussianLayout layout = matrix_gaussian_layout(mlp_layout(spec), {.reflectors = 4});
  const Matrix<float> coordinates = drawn(2, layout.coordinates.size(), 1, 0.5f),
                      slopes = drawn(2, layout.weights.size(), 2, 1);
  std::vector<Matrix<float>> weights, gradients;
  for (const test::ThreadOrder order : {test::ThreadOrder::up, test::ThreadOrder::down}) {
    weights.emplace_back(2, layout.weights.size()), gradients.emplace_back(2, layout.coordinates.size());
    StructureLaunch launch{.places = StructurePlaces(layout),
                           .networks = 2,
                           .coordinates = coordinates.view().data,
                           .coordinate_stride = coordinates.view().stride,
                           .weights = weights.back().view().data,
                           .weight_stride = weights.back().view().stride};
    test::structure_on_host(launch, order);
    launch.slopes = slopes.view().data, launch.slope_stride = slopes.view().stride;
    launch.gradient = gradients.back().view().data, launch.gradient_stride = gradients.back().view().stride;
    test::structure_on_host(launch, order);
  }
  for (std::int64_t i = 0; i < 2; ++i) {
    CHECK(std::ranges::equal(weights[0].row(i), weights[1].row(i)));
    CHECK(std::ranges::equal(gradients[0].row(i), gradients[1].row(i)));
  }
}

TEST_CASE("a reflector without a direction makes weights that are not finite", "[inference][cuda]") {
  const MlpSpec spec{.inputs = 5, .outputs = 4};
  const test::SharedBytes shared(GENERATE(0, 100'000));
  const DeviceMatrixGaussian tested(mlp_layout(spec), {.reflectors = 2}, test::fenced_networks(), true);
  Matrix<float> coordinates = drawn(2, tested.coordinates().size(), 1, 0.5f);
  const LayoutEntry& right = tested.coordinates().at("layer0.reflectors_right");
  std::fill_n(coordinates.row(1).begin() + right.offset, right.columns(), 0.0f);
  const Matrix<float> there = coordinates.to(test::fenced_device());
  Matrix<float> weights(2, tested.weights().size(), test::fenced_device());
  const auto trace = tested.make_trace();
  tested.forward({there.view(), 0}, {}, weights.view(), *trace);
  const Matrix<float> home = weights.to({});
  CHECK(std::isfinite(home.row(0)[0]));
  CHECK(std::isnan(home.row(1)[0]));
}

TEST_CASE("structured weights on a device say what they do not take", "[inference][cuda]") {
  const Device device = test::fenced_networks();
  CHECK_ERROR(DeviceMatrixGaussian(mlp_layout({.inputs = 784, .hidden = {400}}), {}, device, false), usage,
              "the largest matrix and its slopes take", "232448", "no library of products");
  CHECK_ERROR(DeviceMatrixGaussian(mlp_layout({.hidden = {2, 2, 2, 2, 2, 2, 2, 2}}), {}, device), usage,
              "at most 8 matrices", "got 9");
  CHECK_ERROR(DeviceMatrixGaussian(mlp_layout({.inputs = 3, .hidden = {5}}, 4), {}, device), usage, "without padding");
}
