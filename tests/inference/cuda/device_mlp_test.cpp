// Perceptrons on devices against those on the host: the bodies of the kernels on the fenced device, kernels where there
// is a GPU.
#include <stein/inference/models/device_mlp.h>
#include <stein/inference/models/particle_mlp.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "core/error_matcher.h"
#include "inference/cuda/networks_on_host.h"
#include "inference/gpu.h"
#include "inference/mlp_case.h"
#include "inference/tensor_error.h"

using namespace stein;
using namespace stein::inference;

namespace {

/// Two orders of the same sums: 1e-5 of a tensor's length is what float drivers keep of the reference in double.
constexpr double tolerance = 1e-5;

struct Result {
  Particles<float> gradients;
  std::vector<double> value;
  std::vector<float> outputs{};
};

/// What a network says of a case. Gradients begin as not-a-number.
Result run(Model<float>& model, const MlpCase<float>& made, bool with_value = true,
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
  Result result{.gradients = made.weights, .value = std::vector<double>(static_cast<std::size_t>(particles), nothing)};
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

void check_same(const Result& found, const Result& expected, const MlpCase<float>& made) {
  const MatrixView<const float> gradients = expected.gradients.gradients();
  Matrix<double> wide(gradients.rows, gradients.columns);
  for (std::int64_t i = 0; i < gradients.rows; ++i) std::ranges::copy(gradients.row(i), wide.row(i).begin());
  const TensorError worst = largest_tensor_error(made.weights.layout(), found.gradients.gradients(), wide.view());
  const MlpSpec& spec = made.spec;
  INFO(spec.inputs << " inputs, " << spec.hidden.size() << " hidden layers, " << spec.outputs << " outputs, "
                   << made.options.rows << " rows, " << made.options.ones << " ones, tensor " << worst.tensor);
  CHECK(worst.relative <= tolerance);
  CHECK(relative_error(found.value, expected.value) <= tolerance);
  CHECK(relative_error(found.outputs, expected.outputs) <= tolerance);
}

void check_parity(Device device, const MlpSpec& spec, const MlpCaseOptions& options) {
  const MlpCase<float> made = make_mlp_case<float>(spec, options);
  ParticleMlp host(spec);
  DeviceMlp tested(spec, device);
  check_same(run(tested, made), run(host, made), made);
}

/// One unit, widths that are no multiple of four, one row, more rows than a tile, every likelihood and activation.
void check_shapes(Device device) {
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

}  // namespace

TEST_CASE("perceptrons on a device are those of the host for every shape", "[inference][mlp][cuda][parity]") {
  check_shapes(test::fenced_networks());
}

TEST_CASE("perceptrons on a device agree with the host's on masks, row weights and per-particle data",
          "[inference][mlp][cuda][parity]") {
  check_data(test::fenced_networks());
}

TEST_CASE("perceptrons on a device are those of the host for a bandit's minibatch and for many rows",
          "[inference][mlp][cuda][parity]") {
  check_sizes(test::fenced_networks());
}

/// For its time a block of the fenced device shares so many bytes.
class SharedBytes {
 public:
  explicit SharedBytes(std::int64_t bytes) : before_(std::exchange(test::fenced_shared_bytes(), bytes)) {}
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  ~SharedBytes() { test::fenced_shared_bytes() = before_; }

 private:
  std::int64_t before_;
};

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
      const SharedBytes shared(bytes);
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
  const Result both = run(model, made), gradient = run(model, made, false);
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
  CHECK(relative_error(found, expected) <= tolerance);
}

TEST_CASE("a perceptron with constants leaves their slopes at zero", "[inference][mlp][cuda]") {
  const MlpSpec spec{.inputs = 7, .hidden = {5}, .outputs = 3, .constants = 2};
  const MlpCase<float> made = make_mlp_case<float>(spec, {.rows = 5});
  DeviceMlp model(spec, test::fenced_networks());
  const Result found = run(model, made);
  const std::int64_t at = model.layout().at("constants").offset;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t k = at; k < at + 2; ++k) CHECK(found.gradients.gradients()(i, k) == 0);
}

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
      const Result gradient = run(tested, made, false, &score);
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

TEST_CASE("perceptrons on a GPU are those of the host", "[inference][mlp][cuda][parity][gpu]") {
  check_shapes(test::gpu());
  check_data(test::gpu());
  check_sizes(test::gpu());
  check_parity(test::gpu(), {.inputs = 300, .hidden = {200, 150}, .outputs = 10, .likelihood = Likelihood::categorical},
               {.rows = 70});
}
