// What the threads of the CUDA kernels of SVGD do, run on the host by loops over blocks, phases and threads, against
// the reference: sums that are exact in any order, updates with the same bits. Long arrays are compared in parentheses:
// written out, as Catch2 does where they differ, they take minutes.
#include <stein/inference/cuda/pair_sums.h>
#include <stein/inference/cuda/stein_body.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/svgd_kernel.h>
#include <stein/inference/samplers/svgd_pass.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/cuda/kernel_loops.h"
#include "inference/cuda/near_rows.h"
#include "inference/cuda/whole_matrix.h"
#include "inference/ensemble_of.h"

using namespace stein;
using namespace stein::inference;
using cuda::PairGrid, cuda::PairTerm;
using test::drawn, test::everything, test::Shape, test::ThreadOrder, test::whole_numbers;

namespace {

/// The matrix of a term, added up by the threads of the kernels.
template <PairTerm term>
std::vector<double> pairs(const Matrix<float>& rows, ThreadOrder order) {
  const PairGrid grid(rows.rows(), rows.columns());
  const auto count = static_cast<std::size_t>(grid.sums());
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sums(static_cast<std::size_t>(grid.ranges) * count, nothing), totals(count, nothing);
  test::for_each_phase(cuda::PairSums<term>{{.values = rows.view()}, grid, sums.data()}, order);
  test::for_each_index(grid.sums(), cuda::RangeSum{sums.data(), grid.ranges, grid.sums(), totals.data()});
  std::vector<double> matrix(static_cast<std::size_t>(rows.rows() * rows.rows()));
  cuda::pair_matrix(grid, totals, matrix);
  return matrix;
}

template <PairTerm term>
std::vector<double> expected_pairs(const Matrix<float>& rows) {
  std::vector<double> matrix(static_cast<std::size_t>(rows.rows() * rows.rows()));
  if (term == PairTerm::product)
    reference::inner_products<float>(rows.view(), matrix);
  else
    reference::squared_distances<float>(rows.view(), matrix);
  return matrix;
}

/// Both orders of threads have the bits of the reference where sums are exact.
template <PairTerm term>
void check_exact(const Shape& shape) {
  const Matrix<float> rows = whole_numbers(shape);
  const std::vector<double> expected = expected_pairs<term>(rows);
  CAPTURE(shape.rows, shape.columns);
  CHECK((pairs<term>(rows, ThreadOrder::up) == expected));
  CHECK((pairs<term>(rows, ThreadOrder::down) == expected));
}

template <PairTerm term>
void check_near(const Shape& shape) {
  const Matrix<float> rows = drawn(shape);
  const std::vector<double> expected = expected_pairs<term>(rows), found = pairs<term>(rows, ThreadOrder::up);
  CAPTURE(shape.rows, shape.columns);
  for (std::size_t k = 0; k < expected.size(); ++k) REQUIRE(found[k] == Approx(expected[k]).epsilon(1e-12));
  CHECK((pairs<term>(rows, ThreadOrder::down) == found));
}

/// The words of a step, none of them set.
struct Words {
  int gradient = 0, seen = 0, lost = 0;
  cuda::FoundNumber first = cuda::nothing_found;
  cuda::StepFlags flags() { return {.gradient = &gradient, .seen = &seen, .lost = &lost, .first = &first}; }
};

template <OptimizerMethod method>
void move(const cuda::SteinRows& rows, const OptimizerStep& step, const cuda::StepFlags& flags, ThreadOrder order) {
  if (rows.weights.with_positions)
    test::for_each_phase(cuda::SteinUpdate<method, true>(rows, step, flags), order);
  else
    test::for_each_phase(cuda::SteinUpdate<method, false>(rows, step, flags), order);
}

/// An update by the threads of the kernel.
bool stein_update(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                  OptimizerState<float>& state, const OptimizerStep& step, ThreadOrder order, Words words = {}) {
  std::vector<cuda::FourDoubles> numbers = cuda::by_tiles(weights, values.rows);
  const cuda::SteinRows rows{.values = values,
                             .gradients = gradients,
                             .mean = state.mean(),
                             .square = state.square(),
                             .weights = {numbers.data(), values.rows, !weights.position.empty()}};
  switch (state.method()) {
    case OptimizerMethod::sgd: move<OptimizerMethod::sgd>(rows, step, words.flags(), order); break;
    case OptimizerMethod::rmsprop: move<OptimizerMethod::rmsprop>(rows, step, words.flags(), order); break;
    case OptimizerMethod::adam: move<OptimizerMethod::adam>(rows, step, words.flags(), order); break;
  }
  return words.seen == 0;
}

KernelWeights weights_of(SvgdKernel kernel, const Matrix<float>& values) {
  KernelWeights weights;
  kernel_weights({.kernel = kernel},
                 kernel == SvgdKernel::linear ? expected_pairs<PairTerm::product>(values)
                                              : expected_pairs<PairTerm::squared_difference>(values),
                 values.rows(), weights);
  return weights;
}

/// Three updates in an order of threads have the bits of the reference, the optimizer's averages too.
void check_update(SvgdKernel kernel, const OptimizerOptions& options, const Shape& shape, ThreadOrder order) {
  const Matrix<float> gradients = drawn(shape, 4);
  Matrix<float> threads = drawn(shape), expected = threads;
  OptimizerState<float> state(options, ensemble_of(shape.rows, shape.columns, 0)), expected_state = state;
  for (int t = 0; t < 3; ++t) {
    const KernelWeights weights = weights_of(kernel, expected);
    const OptimizerStep step = state.step(t, 0.1);
    REQUIRE(stein_update(threads.view(), gradients.view(), weights, state, step, order));
    REQUIRE(reference::stein_update<float>(expected.view(), gradients.view(), weights, expected_state, step));
  }
  CAPTURE(static_cast<int>(kernel), method_name(options.method), shape.rows, shape.columns, static_cast<int>(order));
  CHECK((everything(threads) == everything(expected)));  // zeros between the rows, as they were
  Snapshot saved, expected_saved;
  state.save(saved), expected_state.save(expected_saved);
  REQUIRE(saved.arrays().size() == expected_saved.arrays().size());
  for (const auto& [name, array] : saved.arrays()) CHECK((array.bytes == expected_saved.arrays().at(name).bytes));
}

}  // namespace

TEST_CASE("blocks of pairs and of updates have room for every number of rows", "[inference][cuda]") {
  constexpr std::int64_t threads = cuda::block_threads;
  for (std::int64_t rows = 1; rows <= cuda::most_tiled_rows; ++rows) {
    for (const std::int64_t columns : {std::int64_t{1}, std::int64_t{100'000'000}}) {
      const PairGrid grid(rows, columns);
      CAPTURE(rows, columns);
      REQUIRE(grid.chunk_groups >= 1);
      REQUIRE(cuda::group_size * grid.chunk_groups * grid.stride <= PairGrid::staged_numbers);
      REQUIRE(grid.lanes >= 1);
      REQUIRE(grid.slots * grid.lanes <= threads);
      REQUIRE(grid.slots * grid.shares >= grid.tiles);
      REQUIRE(grid.ranges * grid.sums() <= std::max(grid.sums(), PairGrid::most_sums));
      const std::int64_t held = grid.ranges * grid.chunks * grid.chunk_groups * cuda::group_size;
      REQUIRE(held >= columns);
      REQUIRE((grid.shares == 1) == (rows <= 88));  // 22 tiles a side are 253 pairs
    }
    const cuda::SteinUpdate<OptimizerMethod::sgd, false> update({.values = {nullptr, rows, 1}}, {}, {});
    REQUIRE(update.groups >= 1);
    REQUIRE(rows * update.groups <= cuda::most_tiled_rows);
    REQUIRE(cuda::row_tiles(rows) * update.groups <= threads);
  }
}

TEST_CASE("sums over pairs of rows are exact where any order of addition is", "[inference][cuda][svgd]") {
  // Tiles that are not full, several lanes or one (64), all tiles in one block (88) or not (89), several chunks a
  // range.
  for (const std::int64_t rows : {1, 2, 4, 5, 20, 31, 64, 88, 89}) {
    for (const std::int64_t columns : {1, 3, 4, 131, 1021}) {
      check_exact<PairTerm::squared_difference>({rows, columns});
      check_exact<PairTerm::product>({rows, columns});
    }
  }
  check_exact<PairTerm::product>({300, 131});
  for (const auto& shape : {Shape{1024, 37}, Shape{3, 2'100'003}}) {
    REQUIRE(PairGrid(shape.rows, shape.columns).chunks == 2);
    check_exact<PairTerm::squared_difference>(shape);
  }
}

TEST_CASE("sums over pairs of near rows agree with the reference to a few roundings", "[inference][cuda][svgd]") {
  for (const auto& shape : {Shape{2, 9000}, Shape{7, 131}, Shape{20, 4099}, Shape{64, 513}}) {
    check_near<PairTerm::squared_difference>(shape);
    check_near<PairTerm::product>(shape);
  }
}

TEST_CASE("the threads of an SVGD update have the bits of the reference", "[inference][cuda][svgd][parity]") {
  for (const SvgdKernel kernel : {SvgdKernel::rbf, SvgdKernel::imq, SvgdKernel::linear}) {
    for (const ThreadOrder order : {ThreadOrder::up, ThreadOrder::down}) {
      for (const std::int64_t rows : {1, 2, 4, 13, 20, 33}) {
        for (const std::int64_t columns : {1, 3, 130, 1021}) {
          check_update(kernel, {.method = OptimizerMethod::adam}, {rows, columns}, order);
          check_update(kernel, {.method = OptimizerMethod::sgd, .momentum = 0}, {rows, columns}, order);
        }
      }
      check_update(kernel, {.method = OptimizerMethod::sgd, .momentum = 0.9}, {5, 131}, order);
      check_update(kernel, {.method = OptimizerMethod::rmsprop}, {5, 131}, order);
      check_update(kernel, {.method = OptimizerMethod::rmsprop}, {130, 37}, order);
    }
  }
  check_update(SvgdKernel::imq, {.method = OptimizerMethod::sgd, .momentum = 0}, {cuda::most_tiled_rows, 9},
               ThreadOrder::down);
}

TEST_CASE("a thread of an SVGD update sees a value that leaves the finite numbers, wherever it stands",
          "[inference][cuda][svgd]") {
  constexpr Shape shape{5, 37};
  KernelWeights alone;  // every row along its own gradient, so that one leaves them by itself
  alone.own.assign(5, 0);
  alone.gradient.assign(25, 0);
  for (std::size_t i = 0; i < 5; ++i) alone.gradient[i * 6] = 1;
  const OptimizerOptions options{.method = OptimizerMethod::sgd};
  for (const std::int64_t row : {0, 2, 3, 4}) {
    for (const std::int64_t place : {0, 3, 4, 31, 32, 36}) {
      Matrix<float> values = drawn(shape), gradients = drawn(shape, 4);
      OptimizerState<float> state(options, ensemble_of(shape.rows, shape.columns, 0));
      const OptimizerStep step = state.step(0, 1e3);
      CHECK(stein_update(values.view(), gradients.view(), alone, state, step, ThreadOrder::up));
      gradients.view()(row, place) = 1e38f;
      CAPTURE(row, place);
      CHECK_FALSE(stein_update(values.view(), gradients.view(), alone, state, step, ThreadOrder::up));
    }
  }
}

TEST_CASE("threads that add up pairs see every gradient that is not finite", "[inference][cuda][svgd]") {
  for (const auto& shape : {Shape{1, 1}, Shape{5, 37}, Shape{20, 1021}, Shape{100, 130}, Shape{3, 2'100'003}}) {
    const Matrix<float> rows = drawn(shape);
    Matrix<float> gradients = drawn(shape, 4);
    const PairGrid grid(shape.rows, shape.columns);
    std::vector<double> sums(static_cast<std::size_t>(grid.ranges * grid.sums()));
    Words words;
    const auto sees = [&] {
      words = {};
      const cuda::PairRows looked{.values = rows.view(), .gradients = gradients.view(), .flags = words.flags()};
      test::for_each_phase(cuda::PairSums<PairTerm::squared_difference>{looked, grid, sums.data()}, ThreadOrder::up);
      CHECK(words.gradient == words.seen);
      return words.seen == 1;
    };
    CAPTURE(shape.rows, shape.columns);
    CHECK_FALSE(sees());
    for (const auto& [row, column] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                      {shape.rows - 1, shape.columns - 1},
                                      {shape.rows / 2, shape.columns / 2}}) {
      const float before = std::exchange(gradients.view()(row, column), std::numeric_limits<float>::infinity());
      CHECK(sees());
      gradients.view()(row, column) = before;
      const NotFiniteNumber found = cuda::number_of(words.first);
      CHECK((found.gradient && found.row == row && found.column == column));
    }
  }
}

TEST_CASE("an update moves nothing after a gradient that is not finite", "[inference][cuda][svgd]") {
  constexpr Shape shape{5, 37};
  Matrix<float> values = drawn(shape);
  const Matrix<float> before = values, gradients = drawn(shape, 4);
  OptimizerState<float> state({}, ensemble_of(shape.rows, shape.columns, 0));
  const KernelWeights weights = weights_of(SvgdKernel::rbf, values);
  const Words stopped{.gradient = 1, .seen = 1};
  CHECK_FALSE(
      stein_update(values.view(), gradients.view(), weights, state, state.step(0, 0.1), ThreadOrder::up, stopped));
  CHECK((everything(values) == everything(before)));
  CHECK(stein_update(values.view(), gradients.view(), weights, state, state.step(0, 0.1), ThreadOrder::up));
  CHECK((everything(values) != everything(before)));
}
