// How perceptrons on a device divide their work, what is asked of them, and what they refuse.
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "inference/cuda/device_mlp_case.h"

using namespace stein;
using namespace stein::inference;

TEST_CASE("perceptrons are those of the host however little a block shares", "[inference][mlp][cuda][parity]") {
  struct Form {
    std::int64_t bytes;
    int rows;
    bool whole;
  };
  const MlpSpec spec{.inputs = 17, .hidden = {23, 9}, .outputs = 3, .learn_noise_precision = true};
  const MlpShape shape(spec);
  for (const std::int64_t ones : {0, 4})
    for (const auto& [bytes, rows, whole] : {Form{40'000, 64, true}, Form{15'000, 32, true}, Form{11'000, 16, true},
                                             Form{5'200, 16, false}, Form{3'100, 8, false}, Form{2'100, 4, false}}) {
      const test::SharedBytes shared(bytes);
      const MlpTiling tiling = tile(shape, 150, static_cast<int>(ones), true, bytes);
      CAPTURE(bytes, ones);
      CHECK(tiling.size * 4 <= bytes);
      if (ones == 0) {
        CHECK(tiling.rows == rows);
        CHECK(tiling.whole == whole);
      }
      check_parity(test::fenced_networks(), spec, {.rows = 150, .ones = ones});
    }
}

TEST_CASE("threads of perceptrons that run in another order give the same bits", "[inference][mlp][cuda]") {
  for (const std::int64_t ones : {0, 4})
    for (const std::int64_t bytes : {40'000, 5'200}) {
      const MlpSpec spec{.inputs = 17, .hidden = {23, 9}, .outputs = 3, .learn_noise_precision = true};
      const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 150, .ones = ones, .row_weights = true});
      const MlpShape shape(spec);
      const MlpTiling tiling = tile(shape, 150, static_cast<int>(ones), true, bytes);
      PackedBatch packed;
      packed.assign(shape, made.batch(), 3, tiling, true);
      const std::int64_t padded = made.weights.values().stride;
      std::vector<std::vector<float>> gradients;
      for (const test::ThreadOrder order : {test::ThreadOrder::up, test::ThreadOrder::down}) {
        Matrix<float> gradient(3, shape.size);
        MlpLaunch launch{.shape = shape,
                         .rows = packed.rows_at(packed.bytes().data()),
                         .tiling = tiling,
                         .networks = 3,
                         .weights = made.weights.values().data,
                         .weight_stride = padded,
                         .scale = 2,
                         .gradient = gradient.view().data,
                         .gradient_stride = gradient.view().stride};
        std::vector<float> shares(static_cast<std::size_t>(tiling.shares * 3 * launch.padded_size()));
        std::vector<double> sums(static_cast<std::size_t>(tiling.shares * 6));
        launch.shares = shares.data(), launch.sums = sums.data();
        test::pass_on_host(launch, order);
        gradients.emplace_back(gradient.view().data, gradient.view().data + 3 * gradient.view().stride);
        for (const double sum : sums) gradients.back().push_back(static_cast<float>(sum));
      }
      CHECK((gradients[0] == gradients[1]));
      CHECK(std::ranges::all_of(gradients[0], [](float number) { return std::isfinite(number); }));
      for (std::int64_t i = 0; i < 3; ++i)  // between the rows
        for (std::int64_t q = shape.size; q < padded; ++q)
          CHECK(gradients[0][static_cast<std::size_t>(i * padded + q)] == 0);
    }
}

TEST_CASE("a gradient without its value is the same, and a value alone too", "[inference][mlp][cuda]") {
  const MlpSpec spec{.inputs = 7, .hidden = {5}, .outputs = 3, .learn_noise_precision = true};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 70, .ones = 2});
  DeviceMlp model(spec, test::fenced_networks());
  const MlpResult both = run(model, made), gradient = run(model, made, false);
  for (std::int64_t i = 0; i < 3; ++i)
    CHECK(std::ranges::equal(both.gradients.gradients().row(i), gradient.gradients.gradients().row(i)));
  std::vector<double> value(3);
  const Matrix<float> weights = host_copy<float>(made.weights.values(), {}).to(model.device());
  model.log_likelihood({weights.view(), 0}, made.batch(), {}, {.value = value});
  for (std::size_t i = 0; i < 3; ++i) CHECK(value[i] == Approx(both.value[i]).epsilon(1e-12));
}

TEST_CASE("several rows of weights that stand for one particle see its rows", "[inference][mlp][cuda]") {
  const MlpSpec spec{.inputs = 7, .hidden = {5}, .outputs = 3};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.particles = 6, .rows = 5, .targets_per_particle = true});
  Batch<float> batch = made.batch();
  batch.weight_samples = 2;
  batch.targets = batch.targets.block(0, 15);
  std::vector<double> found(6), expected(6);
  DeviceMlp model(spec, test::fenced_networks());
  const Matrix<float> weights = host_copy<float>(made.weights.values(), {}).to(model.device());
  model.log_likelihood({weights.view(), 0}, batch, {}, {.value = found});
  ParticleMlp host(spec);
  Matrix<float> padded(6, host.layout().size());
  add_padding<float>(host.layout(), made.weights.values(), padded.view());
  host.log_likelihood({std::as_const(padded).view(), 0}, batch, {}, {.value = expected});
  CHECK(relative_error(found, expected) <= mlp_tolerance);
}

TEST_CASE("a perceptron with constants leaves their slopes at zero", "[inference][mlp][cuda]") {
  const MlpSpec spec{.inputs = 7, .hidden = {5}, .outputs = 3, .constants = 2};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 5});
  DeviceMlp model(spec, test::fenced_networks());
  const MlpResult found = run(model, made);
  const std::int64_t at = model.layout().at("constants").offset;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t k = at; k < at + 2; ++k) CHECK(found.gradients.gradients()(i, k) == 0);
}

TEST_CASE("a score of the batch's own sees the outputs on the host, and its slopes go through the network",
          "[inference][mlp][cuda][parity]") {
  const WaveScore score;
  for (const std::int64_t rows : {5, 67, 1500})
    for (const bool learned : {false, true}) {
      const MlpSpec spec{.inputs = 7, .hidden = {5, 6}, .outputs = 3, .constants = 2, .learn_noise_precision = learned};
      const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = rows, .ones = 2});
      ParticleMlp host(spec);
      DeviceMlp tested(spec, test::fenced_networks());
      check_same(run(tested, made, true, &score), run(host, made, true, &score), made);
      const MlpResult gradient = run(tested, made, false, &score);
      CHECK(std::isfinite(gradient.gradients.gradients()(2, 0)));
    }
}

TEST_CASE("perceptrons on a device say what they do not take", "[inference][mlp][cuda]") {
  const Device device = test::fenced_networks();
  CHECK_ERROR(DeviceMlp({.hidden = {2, 2, 2, 2, 2, 2, 2, 2}}, device), usage, "at most 8 layers, got 9");
  CHECK_ERROR(DeviceMlp({.inputs = 1'000'000, .hidden = {5}}, device), usage, "1000000-5-1", "232448 bytes");
  const MlpSpec spec{.inputs = 7, .hidden = {5}, .outputs = 3};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 5});
  DeviceMlp model(spec, device);
  const Matrix<float> weights = host_copy<float>(made.weights.values(), {}).to(device);
  std::vector<double> value(3);
  Batch<float> batch = made.batch();
  batch.targets.columns = 2;
  CHECK_ERROR(model.log_likelihood({weights.view(), 0}, batch, {}, {.value = value}), usage, "expected targets [5, 3]");
  MatrixView<const float> shifted = weights.view();
  ++shifted.data;
  CHECK_ERROR(model.log_likelihood({shifted, 0}, made.batch(), {}, {.value = value}), usage, "that begin on 16 bytes");
}
