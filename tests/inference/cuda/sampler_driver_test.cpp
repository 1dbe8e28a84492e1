// The drivers of devices against the reference of the host: the fenced device everywhere, a GPU where there is one.
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/sampler_registry.h>
#include <stein/inference/samplers/stein_move.h>
#include <stein/inference/storage/host_copy.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "core/error_matcher.h"
#include "inference/diffusion_rows.h"
#include "inference/fenced_device.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::inference;
using test::every_dynamics, test::flat, test::gpu, test::reference_driver;

namespace {

using Rows = test::DiffusionRows<float>;

/// An SVGD step of a GPU has distances that differ from the reference's by 1e-15, and so, seldom, a direction whose
/// last bit does.
constexpr float last_bits = 1e-6f;

/// A copy of rows of particles on a device.
Matrix<float> there(MatrixView<const float> rows, Device device) {
  return host_copy<float>(rows, {}).to(device);
}

bool same(const Matrix<float>& of_device, MatrixView<const float> expected) {
  const Matrix<float> found = of_device.to({});
  for (std::int64_t i = 0; i < expected.rows; ++i)
    if (!std::ranges::equal(found.row(i), expected.row(i))) return false;
  return found.rows() == expected.rows && found.columns() == expected.columns;
}

void check_diffusion(Device device) {
  const Driver<float>& tested = driver<float>(Ensemble{.device = device});
  for (const Dynamics dynamics : every_dynamics) {
    for (const std::int64_t size : {1, 131, 9000}) {
      Rows rows(flat(size), 3, 7);
      DiffusionStep<float> expected = rows.step(dynamics, 2), step = expected;
      Matrix<float> values = there(expected.values, device), gradients = there(expected.gradients, device);
      std::vector<Matrix<float>> states;
      for (const MatrixView<float>& state : expected.states) states.push_back(there(state, device));
      step.values = values.view(), step.gradients = gradients.view();
      for (std::size_t k = 0; k < most_states; ++k) step.states[k] = states[k].view();
      std::vector<double> squares(3);
      const bool scalar = dynamics == Dynamics::sgnht_scalar;
      DiffusionResult result, other;
      if (scalar) result.momentum_squares = squares, other.momentum_squares = rows.squares;
      tested.diffuse(step, result);
      reference_driver().diffuse(expected, other);
      CAPTURE(tested.name, static_cast<int>(dynamics), size);
      CHECK(result.finite);
      CHECK(same(values, expected.values));
      for (std::size_t k = 0; k < most_states; ++k) CHECK(same(states[k], expected.states[k]));
      CHECK(squares == rows.squares);
    }
  }
  Rows rows(flat(9), 2, 0);
  rows.particles.gradients()(1, 8) = std::numeric_limits<float>::infinity();
  DiffusionStep<float> step = rows.step(Dynamics::sgld, 0);
  Matrix<float> values = there(step.values, device), gradients = there(step.gradients, device);
  step.values = values.view(), step.gradients = gradients.view();
  DiffusionResult result;
  tested.diffuse(step, result);
  CHECK_FALSE(result.finite);
}

void check_optimizers(Device device) {
  const Driver<float>& tested = driver<float>(Ensemble{.device = device});
  for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop, OptimizerMethod::adam}) {
    Rows rows(flat(131), 3, 7);
    Matrix<float> values = there(rows.particles.values(), device),
                  gradients = there(rows.particles.gradients(), device);
    Ensemble ensemble = rows.particles.ensemble(1);
    OptimizerState<float> expected({.method = method}, ensemble);
    ensemble.device = device;
    OptimizerState<float> state({.method = method}, ensemble);
    for (std::int64_t t = 0; t < 3; ++t) {
      const OptimizerStep step = state.step(t, 0.1);
      CHECK(tested.ascend(values.view(), gradients.view(), state, step, nullptr));
      CHECK(reference_driver().ascend(rows.particles.values(), rows.particles.gradients(), expected, step, nullptr));
    }
    CAPTURE(tested.name, method_name(method));
    CHECK(same(values, rows.particles.values()));
    Snapshot saved, expected_saved;
    state.save(saved), expected.save(expected_saved);
    for (const auto& [name, array] : saved.arrays()) CHECK(array.bytes == expected_saved.arrays().at(name).bytes);
  }
}

/// Distances, products and the update of SVGD: one to several tiles of rows, blocks that are not full.
void check_svgd(Device device) {
  const Driver<float>& tested = driver<float>(Ensemble{.device = device});
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear}) {
    for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop, OptimizerMethod::adam}) {
      for (const std::int64_t count : {1, 20, 91}) {
        Rows rows(flat(1031), count, 0);
        const MatrixView<float> expected = rows.particles.values();
        Matrix<float> values = there(expected, device), gradients = there(rows.particles.gradients(), device);
        std::vector<double> found(static_cast<std::size_t>(count * count)), matrix = found;
        const bool linear = kernel == SvgdKernel::linear;
        (linear ? tested.inner_products : tested.squared_distances)(values.view(), found);
        (linear ? reference_driver().inner_products : reference_driver().squared_distances)(expected, matrix);
        CAPTURE(tested.name, static_cast<int>(kernel), method_name(method), count);
        const double largest = *std::ranges::max_element(matrix);
        for (std::size_t k = 0; k < matrix.size(); ++k)
          REQUIRE(found[k] == Approx(matrix[k]).epsilon(0).margin(1e-12 * largest));
        KernelWeights weights;
        kernel_weights({.kernel = kernel}, matrix, count, weights);
        Ensemble ensemble = rows.particles.ensemble(1);
        OptimizerState<float> expected_state({.method = method}, ensemble);
        ensemble.device = device;
        OptimizerState<float> state({.method = method}, ensemble);
        for (int t = 0; t < 2; ++t) {
          const OptimizerStep step = state.step(t, 0.1);
          CHECK(tested.stein_update(values.view(), gradients.view(), weights, state, step, nullptr));
          reference_driver().stein_update(expected, rows.particles.gradients(), weights, expected_state, step, nullptr);
        }
        CHECK(same(values, expected));
        Snapshot saved, expected_saved;
        state.save(saved), expected_state.save(expected_saved);
        for (const auto& [name, array] : saved.arrays()) CHECK(array.bytes == expected_saved.arrays().at(name).bytes);
      }
    }
  }
}

/// A move of SVGD as a whole, of as many particles as a GPU makes the weights for and of more, leads where the
/// reference does, to the last bits; after a gradient that is not finite a driver that looks leaves values and
/// averages.
void check_stein_moves(Device device) {
  const Driver<float>& tested = driver<float>(Ensemble{.device = device});
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear})
    for (const MedianOver over : {MedianOver::matrix, MedianOver::pairs})
      for (const std::int64_t count : {1, 2, 20, 45, 46}) {
        const SvgdKernelOptions options{.kernel = kernel, .median_over = over};
        Rows rows(flat(1031), count, 0);
        Matrix<float> values = there(rows.particles.values(), device),
                      gradients = there(rows.particles.gradients(), device);
        Ensemble ensemble = rows.particles.ensemble(1);
        OptimizerState<float> expected_state({}, ensemble);
        ensemble.device = device;
        OptimizerState<float> state({}, ensemble);
        KernelWeights weights;
        std::vector<double> distances(static_cast<std::size_t>(count * count));
        const auto move = [&](const Driver<float>& by, MatrixView<float> moved, MatrixView<const float> along,
                              OptimizerState<float>& averages) {
          const OptimizerStep step = averages.step(0, 0.1);
          return by.stein_move({.kernel = options,
                                .values = moved,
                                .gradients = along,
                                .state = averages,
                                .step = step,
                                .weights = weights,
                                .distances = distances});
        };
        CAPTURE(tested.name, static_cast<int>(kernel), static_cast<int>(over), count);
        CHECK(move(tested, values.view(), gradients.view(), state));
        CHECK(move(reference_driver(), rows.particles.values(), rows.particles.gradients(), expected_state));
        const Matrix<float> found = values.to({});
        const MatrixView<const float> expected = std::as_const(rows.particles).values();
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t q = 0; q < 1031; ++q) REQUIRE(std::abs(found.row(i)[q] - expected(i, q)) <= last_bits);
        if (tested.watch == nullptr || device.kind == Device::Kind::fenced) continue;
        rows.particles.gradients()(count - 1, 1030) = std::numeric_limits<float>::infinity();
        gradients = there(rows.particles.gradients(), device);
        Snapshot before, after;
        state.save(before);
        CHECK_FALSE(move(tested, values.view(), gradients.view(), state));
        state.save(after);
        CHECK(same(values, found.view()));
        for (const auto& [name, array] : before.arrays()) CHECK(array.bytes == after.arrays().at(name).bytes);
      }
}

void check_small_loops(Device device) {
  const Driver<float>& tested = driver<float>(Ensemble{.device = device});
  CAPTURE(tested.name);
  for (const std::int64_t columns : {1, 131, 4097, 400'000}) {
    CAPTURE(columns);
    Matrix<float> expected(2, columns), rows(2, columns, device);
    tested.draw(rows.view(), {.seed = 3}, 5, 0.3);
    reference_driver().draw(expected.view(), {.seed = 3}, 5, 0.3);
    CHECK(same(rows, expected.view()));
    for (const ClipRule rule : {ClipRule::clip, ClipRule::rescale}) {
      tested.clip(rows.view(), {.clip_norm = 0.7, .clip_rule = rule}, nullptr);
      reference_driver().clip(expected.view(), {.clip_norm = 0.7, .clip_rule = rule}, nullptr);
      CHECK(same(rows, expected.view()));
    }
    CHECK(tested.all_finite(rows.view()));
    std::vector<std::uint8_t> free(static_cast<std::size_t>(columns), 1);
    free[free.size() / 2] = 0;
    tested.hold(rows.view().row(1), free);
    reference_driver().hold(expected.row(1), free);
    CHECK(same(rows, expected.view()));
    double square = 0, expected_square = 0, product = 1, expected_product = 1;
    const Matrix<float> subtracted = expected, subtracted_there = expected.to(device);
    tested.subtract_scaled(subtracted_there.row(0), 0.7f, rows.row(1), &square);
    reference_driver().subtract_scaled(subtracted.row(0), 0.7f, expected.row(1), &expected_square);
    CHECK(same(rows, expected.view()));
    CHECK(square == expected_square);
    CHECK(tested.sum_of_squares(subtracted_there.row(0)) == expected_square);
    std::vector<ScaledRun<float>> runs;  // more than one launch takes
    for (std::int64_t first = 0; first < std::min<std::int64_t>(columns, 120); first += 3)
      runs.push_back({first, std::min<std::int64_t>(2, columns - first), static_cast<float>(first) - 7.5f});
    tested.subtract_runs(subtracted_there.view(), runs, rows.view());
    reference_driver().subtract_runs(subtracted.view(), runs, expected.view());
    CHECK(same(rows, expected.view()));
    if (columns > 40) {  // more runs than one launch takes
      std::vector<NumberRun> learned;
      for (const ScaledRun<float>& run : runs)
        if (run.first > 0) learned.push_back({run.first, run.count});
      const LearnedPrecision law{.coordinate = 0, .runs = learned, .variables = 70};
      tested.add_learned_precision(subtracted_there.view(), law, rows.view());
      reference_driver().add_learned_precision(subtracted.view(), law, expected.view());
      const Matrix<float> home = rows.to({});
      for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t q = 0; q < columns; ++q)
          if (std::abs(home.row(i)[q] - expected.row(i)[q]) > 1e-6F * std::abs(expected.row(i)[q]))
            FAIL("number " << q);
      rows = expected.to(device);
    }
    tested.add_products(subtracted_there.row(0), subtracted_there.row(1), product);
    reference_driver().add_products(subtracted.row(0), subtracted.row(1), expected_product);
    CHECK(product == Approx(expected_product).epsilon(1e-12));
    expected.view()(1, columns - 1) = std::numeric_limits<float>::quiet_NaN();
    CHECK_FALSE(tested.all_finite(expected.to(device).view()));
  }
  // Squares that overflow: |1e30|·√300 = 1.73e31, scaled to length 1, is 1/√300 for every number.
  Matrix<float> large(1, 300, device);
  large.fill(1e30f);
  tested.clip(large.view(), {.clip_norm = 1}, nullptr);
  const Matrix<float> clipped = large.to({});
  for (const float number : clipped.row(0)) CHECK(number == Approx(1 / std::sqrt(300.0)).epsilon(1e-6));
}

/// The standard normal density; its gradient is made on the host, whatever device the particles lie on.
class StandardNormal final : public Target<float> {
 public:
  StandardNormal(Layout layout, Device device) : layout_(std::move(layout)), device_(device) { held_[1] = 0; }
  const Layout& layout() const override { return layout_; }
  void evaluate(const ParticleRows<const float>& rows, const Batch<float>&, const NoiseKey&,
                const Evaluation<float>& wanted) override {
    const Matrix<float> values = host_copy<float>(rows.values, device_);
    for (std::int64_t i = 0; i < values.rows(); ++i) {
      std::vector<float> gradient(values.row(i).begin(), values.row(i).end());
      for (float& number : gradient) number = broken ? std::numeric_limits<float>::quiet_NaN() : -number;
      const std::span<float> to = wanted.gradient.row(i);
      if (device_.kind == Device::Kind::host)
        std::ranges::copy(gradient, to.begin());
      else
        device_memory(device_.kind).copy_in(device_.index, to.data(), gradient.data(), to.size_bytes());
    }
  }
  std::span<const std::uint8_t> free_coordinates(std::int64_t) const override { return held_; }

  bool broken = false;

 private:
  Layout layout_;
  Device device_;
  std::vector<std::uint8_t> held_ = std::vector<std::uint8_t>(3, 1);
};

/// Whether ten steps of a sampler on the device leave the particles where ten on the host do, also where five of them
/// are taken by another that goes on from what the first has saved; and that a gradient that is not finite is named and
/// moves nothing (santa moves before it asks for one).
/// @param apart  how far the particles may be from one another
void check_steps(const std::string& name, Device device, float apart = 0) {
  const Layout layout = flat(21);
  Particles<float> host(layout, 3, 2, 8), particles(layout, 3, 2, 8, device);
  const SamplerChoice& choice = samplers().at(name).defaults;
  Batch<float> batch;
  batch.data_size = 1;
  StandardNormal target(layout, {}), on_device(layout, device);
  const auto expected = choice.make(host.ensemble(4, Arithmetic::reference));
  auto sampler = choice.make(particles.ensemble(4));
  for (int t = 0; t < 10; ++t) {
    expected->step(host, target, batch);
    sampler->step(particles, on_device, batch);
    if (t != 4) continue;
    Snapshot saved, saved_particles;
    sampler->save(saved), particles.save(saved_particles);
    sampler = choice.make(particles.ensemble(4));
    sampler->restore(saved), particles.restore(saved_particles);
  }
  const Matrix<float> found = host_copy<float>(std::as_const(particles).values(), device);
  CAPTURE(name);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t q = 0; q < layout.size(); ++q) CHECK(std::abs(found.view()(i, q) - host.values()(i, q)) <= apart);
    CHECK(found.row(i)[1] == 0);  // held
  }
  on_device.broken = true;
  const auto fails = [&] {
    sampler->step(particles, on_device, batch);
    sampler->settle(particles, on_device, batch);
  };
  CHECK_ERROR(fails(), numeric, "the gradient of position[0] of particle 2 is nan at update 10");
  if (name != "santa") CHECK(same(found, host_copy<float>(std::as_const(particles).values(), device).view()));
}

const std::vector<std::string> samplers_of_devices{"sgld", "psgld", "sghmc", "sgnht", "santa", "optimizer"};

}  // namespace

TEST_CASE("the fenced device has the numbers of the reference", "[inference][cuda]") {
  const Device device = test::fenced_device();
  check_diffusion(device);
  check_optimizers(device);
  check_svgd(device);
  check_stein_moves(device);
  check_small_loops(device);
}

TEST_CASE("a GPU has the bits of the reference, and its distances to a few roundings", "[inference][cuda][gpu]") {
  const Device device = gpu();
  check_diffusion(device);
  check_optimizers(device);
  check_svgd(device);
  check_stein_moves(device);
  check_small_loops(device);
}

TEST_CASE("steps of samplers touch particles on a device by their driver alone", "[inference][cuda]") {
  for (const std::string& name : samplers_of_devices) check_steps(name, test::fenced_device());
  check_steps("svgd", test::fenced_device());
}

TEST_CASE("steps of samplers on a GPU leave the particles where those on the host do", "[inference][cuda][gpu]") {
  for (const std::string& name : samplers_of_devices) check_steps(name, gpu());
  check_steps("svgd", gpu(), last_bits);
}

TEST_CASE("samplers in double are refused on a device", "[inference][cuda]") {
  CHECK_ERROR(driver<double>(Ensemble{.device = test::fenced_device()}), usage, "on the host only");
}

TEST_CASE("the CUDA driver says of how many particles SVGD may be", "[inference][cuda]") {
  if (!has_component("cuda")) {
    CHECK_ERROR(driver<float>(Ensemble{.device = {.kind = Device::Kind::cuda}}), usage, "without its library 'cuda'");
    return;
  }
  const Driver<float>& cuda = driver<float>(Ensemble{.device = {.kind = Device::Kind::cuda}});
  CHECK(cuda.name == "cuda");
  const MatrixView<float> many(nullptr, 1025, 1);
  std::vector<double> numbers(1025 * 1025);
  OptimizerState<float> state({}, Ensemble{.layout = flat(1)});
  CHECK_ERROR(cuda.stein_update(many, many, KernelWeights{}, state, OptimizerStep{}, nullptr), usage,
              "expected at most 1024 particles, got 1025");
  CHECK_ERROR(cuda.squared_distances(many, numbers), usage, "expected at most 1024 particles, got 1025");
  CHECK_ERROR(cuda.inner_products(many, numbers), usage, "expected at most 1024 particles, got 1025");
}
