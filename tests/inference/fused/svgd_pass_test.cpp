// The SIMD passes of SVGD against their references in double, over shapes that leave remainders everywhere.
#include <stein/inference/fused/mlp_pass.h>
#include <stein/inference/fused/svgd_pass.h>
#include <stein/inference/samplers/svgd_pass.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "distributed/thread_ranks.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;

namespace {

struct Pair {
  Particles<float> narrow;
  Particles<double> wide;
};

/// What a rank makes of a step.
struct Moved {
  std::vector<double> pairs;     ///< distances or products of all
  std::vector<float> rows = {};  ///< values and averages of those that it moves
  bool sound = false;            ///< they are finite, and the others as before
};

/// The same random values and gradients in both precisions.
Pair make(std::int64_t rows, std::int64_t size) {
  Layout layout;
  layout.add("position", {size}, Role::weight);
  Pair pair{{layout, rows}, {layout, rows}};
  for (std::int64_t i = 0; i < rows; ++i) {
    fill_normal(pair.narrow.values().row(i), {.seed = 1}, static_cast<std::uint32_t>(i));
    fill_normal(pair.narrow.gradients().row(i), {.seed = 2}, static_cast<std::uint32_t>(i));
    for (std::int64_t q = 0; q < size; ++q) {
      pair.narrow.values()(i, q) =
          5 + 0.01f * pair.narrow.values()(i, q);  // nearly equal particles: cancellation would show
      pair.wide.values()(i, q) = pair.narrow.values()(i, q);
      pair.wide.gradients()(i, q) = pair.narrow.gradients()(i, q);
    }
  }
  return pair;
}

}  // namespace

TEST_CASE("distances and products agree with double to float precision", "[inference][svgd][parity]") {
  for (const std::int64_t rows : {1, 2, 3, 7, 20, 33}) {
    for (const std::int64_t size : {1, 5, 64, 513, 8552}) {
      const Pair pair = make(rows, size);
      const auto square = static_cast<std::size_t>(rows * rows);
      std::vector<double> narrow(square), wide(square);
      CAPTURE(rows, size);
      fused::squared_distances(pair.narrow.values(), narrow);
      reference::squared_distances(pair.wide.values(), wide);
      const double largest = *std::ranges::max_element(wide);
      for (std::size_t i = 0; i < square; ++i) CHECK(std::abs(narrow[i] - wide[i]) <= 1e-4 * largest);
      fused::inner_products(pair.narrow.values(), narrow);
      reference::inner_products(pair.wide.values(), wide);
      for (std::size_t i = 0; i < square; ++i) CHECK(narrow[i] == Approx(wide[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("distances keep their digits whoever lies far away", "[inference][svgd][parity]") {
  // One outlier, or two groups far from each other, each of nearly equal particles.
  const std::int64_t far_rows = GENERATE(1, 6), rows = 12, size = 1000;
  const bool first = GENERATE(true, false);
  Pair pair = make(rows, size);
  for (std::int64_t i = 0; i < far_rows; ++i)
    for (std::int64_t q = 0; q < size; ++q) {
      const std::int64_t row = first ? i : rows - 1 - i;
      pair.narrow.values()(row, q) += 500;
      pair.wide.values()(row, q) = pair.narrow.values()(row, q);
    }
  std::vector<double> narrow(rows * rows), wide(rows * rows);
  const Pair& apart = pair;
  fused::squared_distances(apart.narrow.values(), narrow);
  reference::squared_distances(apart.wide.values(), wide);
  for (std::size_t i = 0; i < narrow.size(); ++i) CHECK(narrow[i] == Approx(wide[i]).epsilon(1e-4));
}

TEST_CASE("the update agrees with double for every kernel and optimizer", "[inference][svgd][parity]") {
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear}) {
    for (const OptimizerMethod method : {OptimizerMethod::sgd, OptimizerMethod::rmsprop, OptimizerMethod::adam}) {
      for (const std::int64_t rows : {1, 4, 13}) {
        for (const std::int64_t size : {3, 130, 4099}) {
          Pair pair = make(rows, size);
          const OptimizerOptions options{
              .method = method, .step = {.step_size = 1e-3}, .momentum = 0.5, .square_decay = 0.9, .epsilon = 1e-4};
          OptimizerState<float> narrow(options, ensemble_of(rows, size, 0));
          OptimizerState<double> wide(options, ensemble_of(rows, size, 0));
          std::vector<double> gram(static_cast<std::size_t>(rows * rows));
          const MatrixView<const double> positions = pair.wide.values();
          kernel == SvgdKernel::linear ? reference::inner_products(positions, gram)
                                       : reference::squared_distances(positions, gram);
          KernelWeights weights;
          kernel_weights({.kernel = kernel}, gram, rows, weights);
          double moved = 0, apart = 0;
          const Pair before = pair;
          for (int t = 0; t < 3; ++t) {
            const OptimizerStep step = narrow.step(t, options.step.step_size);
            fused::stein_update(pair.narrow.values(), pair.narrow.gradients(), weights, narrow, step);
            reference::stein_update(pair.wide.values(), MatrixView<const double>(pair.wide.gradients()), weights, wide,
                                    step);
          }
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t q = 0; q < size; ++q) {
              moved += std::pow(pair.wide.values()(i, q) - before.wide.values()(i, q), 2);
              apart += std::pow(pair.wide.values()(i, q) - pair.narrow.values()(i, q), 2);
            }
          }
          CAPTURE(static_cast<int>(kernel), static_cast<int>(method), rows, size);
          // Values near 5 are stored to 2.4e-7 each update; the moves themselves agree to 1e-3 or better.
          CHECK(std::sqrt(apart) < 1e-3 * std::sqrt(moved) + 1e-6 * std::sqrt(static_cast<double>(rows * size)));
        }
      }
    }
  }
}

TEST_CASE("the update keeps its digits although particle 0 lies far away", "[inference][svgd][parity]") {
  const SvgdKernel kernel = GENERATE(SvgdKernel::rbf, SvgdKernel::imq);
  constexpr std::int64_t rows = 8, size = 300;
  Pair pair = make(rows, size);
  for (std::int64_t q = 0; q < size; ++q) pair.narrow.values()(0, q) += 1e4f;
  for (std::int64_t q = 0; q < size; ++q) pair.wide.values()(0, q) = pair.narrow.values()(0, q);
  const OptimizerOptions options{.method = OptimizerMethod::sgd, .step = {.step_size = 1e-3}, .momentum = 0};
  OptimizerState<float> narrow(options, ensemble_of(rows, size, 0));
  OptimizerState<double> wide(options, ensemble_of(rows, size, 0));
  std::vector<double> distances(rows * rows);
  reference::squared_distances(MatrixView<const double>(pair.wide.values()), distances);
  KernelWeights weights;
  kernel_weights({.kernel = kernel, .bandwidth_rule = Bandwidth::fixed, .bandwidth = 0.01}, distances, rows, weights);
  CHECK(weights.middle != 0);
  const Pair before = pair;
  fused::stein_update(pair.narrow.values(), pair.narrow.gradients(), weights, narrow, narrow.step(0, 1e-3));
  reference::stein_update(pair.wide.values(), MatrixView<const double>(pair.wide.gradients()), weights, wide,
                          wide.step(0, 1e-3));
  for (std::int64_t i = 1; i < rows; ++i)
    for (std::int64_t q = 0; q < size; ++q) {
      const double moved = pair.wide.values()(i, q) - before.wide.values()(i, q);
      // Values near 5 are stored to 4.8e-7.
      REQUIRE(std::abs(pair.narrow.values()(i, q) - pair.wide.values()(i, q)) < 1e-3 * std::abs(moved) + 1e-6);
    }
}

TEST_CASE("an optimizer's update in SIMD has the bits of the reference where both add in one rounding",
          "[inference][svgd][parity]") {
  const auto [method, momentum] = GENERATE(table<OptimizerMethod, double>({{OptimizerMethod::sgd, 0.9},
                                                                           {OptimizerMethod::sgd, 0.0},
                                                                           {OptimizerMethod::rmsprop, 0.9},
                                                                           {OptimizerMethod::adam, 0.9}}));
  Particles<float> simd = make(3, 130).narrow, expected = simd;
  const OptimizerOptions options{.method = method, .step = {.step_size = 1e-2}, .momentum = momentum};
  OptimizerState<float> simd_state(options, ensemble_of(3, 130, 0)), expected_state(options, ensemble_of(3, 130, 0));
  for (int t = 0; t < 5; ++t) {
    const OptimizerStep step = simd_state.step(t, options.step.step_size);
    CHECK(fused::ascend(simd.values(), simd.gradients(), simd_state, step));
    CHECK(reference::ascend(expected.values(), MatrixView<const float>(expected.gradients()), expected_state, step));
  }
  // Targets narrower than AVX2 round a product before they add.
  const float apart = fused::vector_lanes() < 8 ? 1e-6f : 0;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t q = 0; q < 130; ++q)
      REQUIRE(std::abs(simd.values()(i, q) - expected.values()(i, q)) <= apart * std::abs(expected.values()(i, q)));
}

TEST_CASE("a value that leaves the finite numbers shows, wherever it stands", "[inference][svgd]") {
  for (std::int64_t place = 0; place < 37; ++place) {
    Particles<float> particles = make(2, 37).narrow;
    std::vector<double> gram(4);
    fused::squared_distances(particles.values(), gram);
    KernelWeights weights;
    kernel_weights({}, gram, 2, weights);
    for (std::int64_t q = 0; q < 37; ++q) particles.gradients()(1, q) = q == place ? 1e38f : 1;
    Particles<float> alone = particles, expected = particles;
    const OptimizerOptions options{.method = OptimizerMethod::sgd, .step = {.step_size = 1e3}};
    OptimizerState<float> first(options, ensemble_of(2, 37, 0)), second = first, third = first;
    const OptimizerStep step = first.step(0, options.step.step_size);
    CHECK_FALSE(fused::stein_update(particles.values(), particles.gradients(), weights, first, step));
    CHECK_FALSE(fused::ascend(alone.values(), alone.gradients(), second, step));
    CHECK_FALSE(reference::ascend(expected.values(), MatrixView<const float>(expected.gradients()), third, step));
  }
}

TEST_CASE("ranks that each make some pairs and move some rows have the bits of one process",
          "[inference][svgd][distributed]") {
  const auto [rows, size] = GENERATE(table<std::int64_t, std::int64_t>({{1, 40}, {5, 130}, {66, 333}, {150, 9001}}));
  const bool grouped = GENERATE(false, true);
  const SvgdKernel kernel = GENERATE(SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear);
  Pair before = make(rows, size);
  if (grouped)  // all but a third of the particles far away: distances by differences
    for (std::int64_t i = 0; i < rows; i += 3)
      for (std::int64_t q = 0; q < size; ++q) before.narrow.values()(i, q) += 500;
  const OptimizerOptions options{.step = {.step_size = 1e-3}};
  const auto moved = [&](distributed::Communicator& ranks) {
    Particles<float> particles = before.narrow;
    OptimizerState<float> state(options, ensemble_of(rows, size, 0));
    std::vector<double> pairs(static_cast<std::size_t>(rows * rows));
    const MatrixView<const float> positions = particles.values();
    kernel == SvgdKernel::linear ? fused::inner_products(positions, pairs, ranks)
                                 : fused::squared_distances(positions, pairs, ranks);
    KernelWeights weights;
    kernel_weights({.kernel = kernel}, pairs, rows, weights);
    const distributed::PartRange own = distributed::parts_of(ranks, rows);
    Moved found{.pairs = pairs};
    found.sound =
        fused::stein_update(particles.values(), particles.gradients(), weights, state, state.step(0, 1e-3), own);
    for (std::int64_t i = own.first; i < own.end; ++i)
      for (const MatrixView<float> each : {particles.values(), state.mean(), state.square()})
        found.rows.insert(found.rows.end(), each.row(i).begin(), each.row(i).end());
    for (std::int64_t i = 0; i < rows; ++i)
      if (i < own.first || i >= own.end)
        found.sound = found.sound && std::ranges::equal(particles.values().row(i), before.narrow.values().row(i)) &&
                      std::ranges::all_of(state.square().row(i), [](float each) { return each == 0; });
    return found;
  };
  const Moved alone = moved(distributed::single_process());
  CHECK(alone.sound);
  for (const int count : {2, 3, 4, 5}) {
    std::vector<std::vector<float>> of_ranks(static_cast<std::size_t>(count));
    std::atomic<int> alike = 0;
    test::on_ranks(count, [&](const std::shared_ptr<distributed::Communicator>& ranks) {
      Moved found = moved(*ranks);
      alike += found.sound && found.pairs == alone.pairs ? 1 : 0;
      of_ranks[static_cast<std::size_t>(ranks->rank())] = std::move(found.rows);
    });
    std::vector<float> together;
    for (const std::vector<float>& each : of_ranks) together.insert(together.end(), each.begin(), each.end());
    CAPTURE(rows, size, grouped, static_cast<int>(kernel), count);
    CHECK(alike == count);
    CHECK((together == alone.rows));
  }
}

TEST_CASE("padding beyond the last coordinate stays zero", "[inference][svgd]") {
  Pair pair = make(3, 13);
  OptimizerState<float> state({}, ensemble_of(3, 13, 0));
  std::vector<double> gram(9);
  fused::squared_distances(pair.narrow.values(), gram);
  KernelWeights weights;
  kernel_weights({}, gram, 3, weights);
  for (int t = 0; t < 5; ++t)
    fused::stein_update(pair.narrow.values(), pair.narrow.gradients(), weights, state, state.step(t, 1e-3));
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t q = 13; q < 16; ++q) CHECK(pair.narrow.values().data[i * 16 + q] == 0);
}
