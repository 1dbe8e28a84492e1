// What the threads of the CUDA kernels do, run on the host by loops over blocks and threads, against the reference
// driver: the same bits, over shapes that leave remainders everywhere.
#include <stein/inference/cuda/clip_body.h>
#include <stein/inference/cuda/diffusion_body.h>
#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/learned_precision_body.h>
#include <stein/inference/cuda/optimizer_body.h>
#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/priors/learned_precision.h>
#include <stein/inference/samplers/diffusion_pass.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/svgd_pass.h>

#include <catch2/catch.hpp>
#include <limits>
#include <type_traits>

#include "inference/cuda/kernel_loops.h"
#include "inference/cuda/whole_matrix.h"
#include "inference/diffusion_rows.h"

using namespace stein;
using namespace stein::inference;
using test::every_dynamics, test::everything, test::flat, test::for_each_index, test::reference_driver;

namespace {

using Rows = test::DiffusionRows<float>;

/// visit(row, group) for every thread of a block that has a group.
template <class Visit>
void for_each_thread(const cuda::GroupGrid& grid, unsigned block_x, unsigned block_y, const Visit& visit) {
  for (unsigned y = 0; y < grid.along; ++y) {
    for (unsigned x = 0; x < grid.across; ++x) {
      const std::int64_t row = grid.row(block_y, y), group = grid.group(block_x, x);
      if (grid.has(row, group)) visit(row, group);
    }
  }
}

/// The kernel around a body of one group: grids, blocks and threads as on the device, the last block first.
/// @returns whether every body that answers has said yes
template <class Body>
bool for_each_group(MatrixView<const float> rows, const Body& body) {
  bool all = true;
  cuda::with_grids(rows.rows, rows.columns, [&](const cuda::GroupGrid& grid) {
    for (unsigned block_y = grid.blocks_y; block_y-- > 0;) {
      for (unsigned block_x = grid.blocks_x; block_x-- > 0;) {
        for_each_thread(grid, block_x, block_y, [&](std::int64_t row, std::int64_t group) {
          const cuda::GroupPlace place = cuda::group_place(rows.columns, row, group);
          if constexpr (std::is_same_v<decltype(body(place)), bool>)
            all = body(place) && all;
          else
            body(place);
        });
      }
    }
  });
  return all;
}

/// The lanes of the squares of all rows.
template <cuda::SquareSum how, class Sum>
std::vector<Sum> lanes_of(MatrixView<const float> rows) {
  const std::int64_t count = rows.rows * cuda::sum_blocks(rows.columns) * cuda::sum_lanes;
  std::vector<Sum> sums(static_cast<std::size_t>(count));
  for_each_index(count, cuda::LaneSum<how, Sum>{rows, sums.data()});
  return sums;
}

template <class Sum>
std::span<const Sum> of_row(const std::vector<Sum>& lanes, std::int64_t rows, std::int64_t i) {
  const std::size_t size = lanes.size() / static_cast<std::size_t>(rows);
  return std::span(lanes).subspan(static_cast<std::size_t>(i) * size, size);
}

void diffuse(const DiffusionStep<float>& step, DiffusionResult& result) {
  const cuda::DiffusionRows rows{.values = step.values,
                                 .gradients = step.gradients,
                                 .states = {step.states[0], step.states[1], step.states[2]},
                                 .thermostats = step.thermostats.data(),
                                 .noise = step.noise,
                                 .first_row = step.first_row};
  with_step<NumberOperations<float>>(step.dynamics, step.numbers, [&](const auto& move) {
    using Step = std::decay_t<decltype(move)>;
    result.finite = for_each_group(step.values, cuda::DiffuseGroup<Step>{rows, move});
  });
  if (step.dynamics != Dynamics::sgnht_scalar) return;
  const auto lanes = lanes_of<cuda::SquareSum::multiplied, float>(step.states[0]);
  for (std::size_t i = 0; i < result.momentum_squares.size(); ++i)
    result.momentum_squares[i] =
        cuda::sum_of_block_lanes(of_row(lanes, step.values.rows, static_cast<std::int64_t>(i)));
}

/// Rows of normals.
Matrix<float> drawn_rows(std::int64_t rows, std::int64_t columns, double deviation = 1) {
  Matrix<float> matrix(rows, columns);
  reference_driver().draw(matrix.view(), {.seed = 3}, 5, deviation);
  return matrix;
}

/// The kernels that limit the length of rows, one after the other, as the CUDA driver asks for them.
void clip_by_threads(Matrix<float>& rows, const GradientClipOptions& options, cuda::StepFlags flags = {}) {
  int none = 0;
  if (flags.gradient == nullptr) flags.gradient = flags.seen = &none;
  const std::int64_t columns = rows.columns(), lanes = rows.rows() * cuda::sum_blocks(columns) * cuda::sum_lanes;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();  // of memory that nobody has written
  std::vector<double> wide(static_cast<std::size_t>(lanes), nan),
      totals(static_cast<std::size_t>(rows.rows() * cuda::square_parts(columns) * cuda::sum_lanes), nan),
      squares(static_cast<std::size_t>(rows.rows()), nan), wide_squares = squares;
  const std::vector<float> narrow = lanes_of<cuda::SquareSum::rounded, float>(rows.view());
  test::for_each_phase(cuda::AddUpLanes<float>{narrow.data(), rows.rows(), columns, totals.data(), squares.data()},
                       test::ThreadOrder::up);
  for_each_index(lanes, cuda::WideLaneSum{{rows.view(), wide.data()}, squares.data()});
  test::for_each_phase(
      cuda::AddUpLanes<double>{wide.data(), rows.rows(), columns, totals.data(), wide_squares.data(), squares.data()},
      test::ThreadOrder::down);
  for_each_group(rows.view(), cuda::ClipGroup{rows.view(), squares.data(), wide_squares.data(), options.clip_norm,
                                              options.clip_rule, flags});
}

}  // namespace

TEST_CASE("every group of every row has one thread", "[inference][cuda]") {
  struct Shape {
    std::int64_t rows, columns, grids;
  };
  // Blocks along y are at most 65,535: of one row of 256 groups, or of two rows of 128.
  for (const auto& [rows, columns, expected_grids] :
       {Shape{1, 1, 1}, Shape{3, 1, 1}, Shape{257, 4, 1}, Shape{3, 10, 1}, Shape{70'000, 10, 1}, Shape{20, 8500, 1},
        Shape{1, 1'000'003, 1}, Shape{65'600, 1021, 2}, Shape{131'100, 509, 2}}) {
    const std::int64_t groups = cuda::groups_in_row(columns);
    std::vector<std::uint8_t> threads(static_cast<std::size_t>(rows * groups));
    std::int64_t numbers = 0, grids = 0;
    cuda::with_grids(rows, columns, [&](const cuda::GroupGrid& grid) {
      CHECK(grid.across * grid.along == cuda::block_threads);
      CHECK(grid.blocks_y <= cuda::GroupGrid::most_blocks);
      for (unsigned block_y = 0; block_y < grid.blocks_y; ++block_y) {
        for (unsigned block_x = 0; block_x < grid.blocks_x; ++block_x) {
          for_each_thread(grid, block_x, block_y, [&](std::int64_t row, std::int64_t group) {
            ++threads[static_cast<std::size_t>(row * groups + group)];
            numbers += cuda::group_place(columns, row, group).count;
          });
        }
      }
      ++grids;
    });
    CAPTURE(rows, columns);
    CHECK(std::ranges::count(threads, 1) == std::ssize(threads));
    CHECK(numbers == rows * columns);
    CHECK(grids == expected_grids);
  }
}

TEST_CASE("places of rows of many thousand million numbers are not cut off", "[inference][cuda]") {
  const std::int64_t columns = (std::int64_t{1} << 36) + 5;  // its groups are more than 32 bits count
  const cuda::GroupGrid grid(0, 1, columns);
  const std::int64_t last = grid.group(grid.blocks_x - 1, 1);
  CHECK(grid.has(0, last));
  CHECK_FALSE(grid.has(0, last + 1));
  const cuda::GroupPlace place = cuda::group_place(columns, 0, last);
  CHECK(place.first == columns - 1);
  CHECK(place.count == 1);
}

TEST_CASE("the threads of a diffusion step have the bits of the reference", "[inference][cuda][parity]") {
  for (const Dynamics dynamics : every_dynamics) {
    for (const std::int64_t size : {1, 3, 4, 17, 64, 131, 4097, 9000}) {
      Rows threads(flat(size), 3, 7), expected(flat(size), 3, 7);
      for (std::uint64_t t = 0; t < 3; ++t) {
        DiffusionResult one{.momentum_squares = threads.squares}, other{.momentum_squares = expected.squares};
        diffuse(threads.step(dynamics, t), one);
        reference::diffuse(expected.step(dynamics, t), other);
        CHECK(one.finite);
      }
      CAPTURE(static_cast<int>(dynamics), size);
      CHECK(threads.everything() == expected.everything());
      CHECK(threads.squares == expected.squares);
      const MatrixView<float> values = threads.particles.values();
      for (std::int64_t q = size; q < values.stride; ++q) CHECK(values.data[q] == 0);  // between the rows
    }
  }
}

TEST_CASE("a thread sees a value that leaves the finite numbers", "[inference][cuda]") {
  for (const std::int64_t place : {0, 3, 4, 99, 4096, 4100}) {
    Rows rows(flat(4101), 2, 0);
    rows.particles.gradients()(1, place) = std::numeric_limits<float>::infinity();
    DiffusionResult result;
    diffuse(rows.step(Dynamics::sgld, 0), result);
    CHECK_FALSE(result.finite);
  }
}

TEST_CASE("the threads of an optimizer have the bits of the reference", "[inference][cuda][parity]") {
  struct Case {
    OptimizerMethod method;
    double momentum;
  };
  for (const auto& [method, momentum] : {Case{OptimizerMethod::sgd, 0.9}, Case{OptimizerMethod::sgd, 0},
                                         Case{OptimizerMethod::rmsprop, 0.9}, Case{OptimizerMethod::adam, 0.9}}) {
    for (const std::int64_t size : {1, 3, 4, 17, 131, 4097}) {
      Rows threads(flat(size), 3, 7), expected(flat(size), 3, 7);
      const OptimizerOptions options{.method = method, .momentum = momentum};
      const Ensemble ensemble = threads.particles.ensemble(1);
      OptimizerState<float> state(options, ensemble), expected_state(options, ensemble);
      for (std::int64_t t = 0; t < 3; ++t) {
        const OptimizerStep step = state.step(t, 0.1);
        const MatrixView<float> values = threads.particles.values(), directions = threads.particles.gradients();
        const auto ascend = [&](auto chosen) {
          return for_each_group(values, cuda::AscendGroup<decltype(chosen)::value>{values, directions, state.mean(),
                                                                                   state.square(), step});
        };
        CHECK((method == OptimizerMethod::sgd ? ascend(std::integral_constant<OptimizerMethod, OptimizerMethod::sgd>())
               : method == OptimizerMethod::rmsprop
                   ? ascend(std::integral_constant<OptimizerMethod, OptimizerMethod::rmsprop>())
                   : ascend(std::integral_constant<OptimizerMethod, OptimizerMethod::adam>())));
        reference::ascend<float>(expected.particles.values(), expected.particles.gradients(), expected_state, step);
      }
      CAPTURE(method_name(method), momentum, size);
      CHECK(threads.everything() == expected.everything());
      Snapshot saved, expected_saved;
      state.save(saved), expected_state.save(expected_saved);
      REQUIRE(saved.arrays().size() == expected_saved.arrays().size());
      for (const auto& [name, array] : saved.arrays()) CHECK(array.bytes == expected_saved.arrays().at(name).bytes);
    }
  }
}

TEST_CASE("the threads of a draw have the bits of the reference, and leave zeros between the rows",
          "[inference][cuda][parity]") {
  for (const std::int64_t columns : {1, 4, 7, 131, 1024}) {
    Matrix<float> threads(3, columns);
    threads.fill(9);
    for_each_group(threads.view(), cuda::DrawGroup{threads.view(), {.seed = 3}, 5, 0.3});
    CHECK(everything(threads) == everything(drawn_rows(3, columns, 0.3)));
  }
}

TEST_CASE("sums of squares in two passes have the bits of those on the host", "[inference][cuda][parity]") {
  // Around a lane, a block of 4,096, the 262,144 from which on the host adds in parts of 65,536, and past these.
  for (const std::int64_t columns :
       {1, 15, 16, 17, 4095, 4096, 4097, 9000, 262'143, 262'144, 262'145, 262'144 + 65'536 + 4100}) {
    const Matrix<float> rows = drawn_rows(2, columns);
    const auto lanes = lanes_of<cuda::SquareSum::rounded, float>(rows.view());
    CAPTURE(columns);
    for (const std::int64_t i : {0, 1})
      CHECK(cuda::sum_of_square_lanes(of_row(lanes, 2, i), columns) == sum_of_squares(rows.row(i)));
  }
}

TEST_CASE("the threads of a Gaussian prior have the bits of both forms on the host", "[inference][cuda][parity]") {
  const Driver<float>& simd = driver<float>(Ensemble{});
  struct Offsets {
    std::size_t values, gradient;  // to 16 bytes, in numbers
  };
  for (const std::int64_t columns : {1, 2, 15, 17, 4097, 9000, 262'145}) {
    for (const auto [from, to] :
         {Offsets{0, 0}, Offsets{1, 1}, Offsets{2, 2}, Offsets{3, 3}, Offsets{2, 0}, Offsets{0, 3}}) {
      const auto size = static_cast<std::size_t>(columns);
      const Matrix<float> all = drawn_rows(1, columns + 3);
      const std::span<const float> values = all.row(0).subspan(from, size);
      Matrix<float> threads = drawn_rows(1, columns + 3, 0.3), expected = threads, fast = threads;
      const cuda::SubtractGroup body(values.data(), 0.7f, threads.row(0).subspan(to, size).data(), columns);
      for_each_index(body.groups(), body);
      double squares = 0, fast_squares = 0;
      reference_driver().subtract_scaled(values, 0.7f, expected.row(0).subspan(to, size), &squares);
      simd.subtract_scaled(values, 0.7f, fast.row(0).subspan(to, size), &fast_squares);
      CAPTURE(columns, from, to);
      CHECK(everything(threads) == everything(expected));
      CHECK(everything(fast) == everything(expected));
      CHECK(squares == fast_squares);
      CHECK(squares == reference_driver().sum_of_squares(values));
    }
  }
}

TEST_CASE("the threads that subtract runs of rows have the bits of both forms on the host",
          "[inference][cuda][parity]") {
  const Driver<float>& simd = driver<float>(Ensemble{});
  for (const std::int64_t columns : {1, 7, 17, 131}) {
    const Matrix<float> values = drawn_rows(3, columns);
    Matrix<float> threads = drawn_rows(3, columns, 0.3), expected = threads, fast = threads;
    std::vector<ScaledRun<float>> runs;
    cuda::SubtractRunsGroup body{.values = values.view(), .gradient = threads.view()};
    for (std::int64_t first = 0; first < columns; first += 6) {
      const std::int64_t count = std::min<std::int64_t>(5, columns - first);
      const auto scale = static_cast<float>(first) - 7.5f;
      body.scale[runs.size()] = scale;
      runs.push_back({first, count, scale});
    }
    body.runs = cuda::RowRuns::some_of(runs, 0);
    for_each_group(threads.view(), body);
    reference_driver().subtract_runs(values.view(), runs, expected.view());
    simd.subtract_runs(values.view(), runs, fast.view());
    CAPTURE(columns);
    CHECK(everything(threads) == everything(expected));
    CHECK(everything(fast) == everything(expected));
    const Matrix<float> before = drawn_rows(3, columns, 0.3);
    for (const auto& [first, count, scale] : runs)
      CHECK(expected.row(2)[first] == before.row(2)[first] - scale * values.row(2)[first]);
    if (columns > 5) CHECK(expected.row(2)[5] == before.row(2)[5]);  // between two runs
  }
}

TEST_CASE("the threads of a learned precision add what the host adds", "[inference][cuda][parity]") {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  for (const std::int64_t columns : {9, 131, 700}) {
    CAPTURE(columns);
    const std::int64_t coordinate = columns - 1;
    const std::vector<NumberRun> runs{{0, 3}, {5, columns - 6}};
    const LearnedPrecision law{.coordinate = coordinate,
                               .runs = runs,
                               .variables = columns - 3,
                               .gamma = {.gamma_shape = 2, .gamma_rate = 0.5}};
    const Matrix<float> values = drawn_rows(3, columns), before = drawn_rows(3, columns, 0.3);
    Matrix<float> threads = before, expected = before, fast = before;
    std::vector<double> sums(static_cast<std::size_t>(3 * cuda::learned_lanes), nothing);
    bool begins = true;
    for (const NumberRun& run : runs) {  // a launch each
      const cuda::RowRuns part = cuda::RowRuns::some_of(std::span(&run, 1), 0);
      for_each_index(std::ssize(sums), cuda::AddRunSquares{values.view(), part, begins, sums.data()});
      for_each_group(threads.view(), cuda::SubtractLearnedGroup{values.view(), threads.view(), coordinate, part});
      begins = false;
    }
    cuda::AddPrecisionSlope slope{.values = values.view(),
                                  .gradient = threads.view(),
                                  .coordinate = coordinate,
                                  .sums = sums.data(),
                                  .variables = static_cast<double>(law.variables),
                                  .shape = 2,
                                  .rate = 0.5};
    for_each_index(3, slope);
    reference_driver().add_learned_precision(values.view(), law, expected.view());
    driver<float>(Ensemble{}).add_learned_precision(values.view(), law, fast.view());
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t q = 0; q < coordinate; ++q) CHECK(threads.row(i)[q] == expected.row(i)[q]);
      CHECK(threads.row(i)[coordinate] == Approx(expected.row(i)[coordinate]).epsilon(1e-6));
      CHECK(fast.row(i)[coordinate] == Approx(expected.row(i)[coordinate]).epsilon(1e-6));
      const double precision = std::exp(static_cast<double>(values.row(i)[coordinate]));
      double square = 0;
      for (std::int64_t q = 0; q < coordinate; ++q)
        if (q != 3 && q != 4) square += std::pow(static_cast<double>(values.row(i)[q]), 2);
      CHECK(expected.row(i)[0] == Approx(before.row(i)[0] - precision * values.row(i)[0]).epsilon(1e-5));
      CHECK(expected.row(i)[4] == before.row(i)[4]);  // between the runs
      CHECK(expected.row(i)[coordinate] == Approx(before.row(i)[coordinate] + 0.5 * static_cast<double>(law.variables) -
                                                  precision * square / 2 + 2 - precision / 2)
                                               .epsilon(1e-5));
    }
    threads = before, expected = before;
    slope.gradient = threads.view(), slope.sums = nullptr;
    for_each_index(3, slope);
    reference_driver().add_learned_precision(
        values.view(), {.coordinate = coordinate, .gamma = {.gamma_shape = 2, .gamma_rate = 0.5}}, expected.view());
    CHECK(everything(threads) == everything(expected));
    CHECK(threads.row(1)[0] == before.row(1)[0]);
    CHECK(threads.row(1)[coordinate] != before.row(1)[coordinate]);
  }
}

TEST_CASE("products in two passes add up to those one after the other", "[inference][cuda][parity]") {
  for (const std::int64_t columns : {1, 15, 17, 4097, 9000, 262'145}) {
    const Matrix<float> a = drawn_rows(1, columns), b = drawn_rows(1, columns, 0.3);
    std::vector<double> lanes(static_cast<std::size_t>(cuda::sum_blocks(columns) * cuda::sum_lanes));
    for_each_index(std::ssize(lanes), cuda::LaneProduct{a.row(0).data(), b.row(0).data(), columns, lanes.data()});
    double expected = 0;
    reference_driver().add_products(a.row(0), b.row(0), expected);
    CAPTURE(columns);
    CHECK(cuda::sum_of_block_lanes(std::span<const double>(lanes)) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("a row whose squares leave float's range has a length in double", "[inference][cuda]") {
  Matrix<float> rows(1, 9000);
  rows.fill(1e30f);
  const auto narrow = lanes_of<cuda::SquareSum::rounded, float>(rows.view());
  CHECK_FALSE(std::isfinite(cuda::sum_of_square_lanes(of_row(narrow, 1, 0), 9000)));
  const auto wide = lanes_of<cuda::SquareSum::wide, double>(rows.view());
  const double length = static_cast<double>(1e30f) * std::sqrt(9000.0);
  CHECK(std::sqrt(cuda::sum_of_square_lanes(of_row(wide, 1, 0), 9000)) == Approx(length).epsilon(1e-13));
}

TEST_CASE("the threads that scale a gradient have the bits of the reference", "[inference][cuda][parity]") {
  Matrix<float> threads = drawn_rows(1, 131), expected = threads;
  CHECK(std::sqrt(sum_of_squares(std::as_const(expected).row(0))) > 2);
  clip_by_threads(threads, {.clip_norm = 2});
  reference_driver().clip(expected.view(), {.clip_norm = 2}, nullptr);
  CHECK(everything(threads) == everything(expected));
}

TEST_CASE("threads limit the length of rows with the bits of the reference, however many parts they are added up in",
          "[inference][cuda][parity]") {
  for (const std::int64_t columns : {1, 131, 4097, 262'143, 262'144, 400'001})
    for (const ClipRule rule : {ClipRule::clip, ClipRule::rescale}) {
      const GradientClipOptions options{.clip_norm = 3, .clip_rule = rule};
      Matrix<float> threads = drawn_rows(2, columns);
      for (float& number : threads.row(1)) number *= 1e-3f;  // the one row is longer than the limit, the other shorter
      Matrix<float> expected = threads;
      clip_by_threads(threads, options);
      reference_driver().clip(expected.view(), options, nullptr);
      CAPTURE(columns, static_cast<int>(rule));
      CHECK((everything(threads) == everything(expected)));
    }
  // Squares that overflow: |1e30|·√300 = 1.73e31, scaled to length 1, is 1/√300 for every number; the row beside it
  // has squares that do not.
  Matrix<float> rows(2, 300);
  rows.fill(1e30f);
  std::ranges::fill(rows.row(1), 1.0f);
  clip_by_threads(rows, {.clip_norm = 1});
  for (std::int64_t i = 0; i < 2; ++i)
    for (const float number : rows.row(i)) CHECK(number == Approx(1 / std::sqrt(300.0)).epsilon(1e-6));
}

TEST_CASE("threads clip nothing in a step that is stopped, by itself or by the one before it", "[inference][cuda]") {
  for (const bool by_itself : {true, false}) {
    int gradient = by_itself, before = !by_itself, seen = 0;
    Matrix<float> rows = drawn_rows(2, 131);
    const Matrix<float> kept = rows;
    clip_by_threads(rows, {.clip_norm = 2}, {.gradient = &gradient, .seen = &seen, .before = &before});
    CHECK(everything(rows) == everything(kept));
  }
}

TEST_CASE("the least word of all numbers that are not finite is the first of them, gradients before values",
          "[inference][cuda]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  int gradient = 0, seen = 0, lost = 0;
  cuda::FoundNumber first = cuda::nothing_found;
  const cuda::StepFlags flags{.gradient = &gradient, .seen = &seen, .lost = &lost, .first = &first};
  const auto found = [&] { return cuda::number_of(first); };
  flags.name(false, {7, 20, 4}, {{1, nan, 2, infinity}});
  CHECK((!found().gradient && found().row == 7 && found().column == 21 && std::isnan(found().number)));
  flags.name(false, {7, 12, 3}, {{1, 0, -infinity, 0}});
  CHECK((found().column == 14 && found().number == -infinity));
  flags.name(false, {6, 4000, 2}, {{0, infinity, 0, 0}});
  CHECK((found().row == 6 && found().column == 4001 && found().number == infinity));
  flags.name(false, {6, 4004, 2}, {{nan, nan, 0, 0}});
  CHECK(found().column == 4001);
  flags.name(true, {2'000'000, std::int64_t{1} << 33, 1}, {{-nan, 0, 0, 0}});
  CHECK((found().gradient && found().row == 2'000'000 && found().column == std::int64_t{1} << 33));
  CHECK((std::isnan(found().number) && !std::signbit(found().number)));
}

TEST_CASE("a value that is not finite stops the next step, a gradient its own too", "[inference][cuda]") {
  int gradients[2] = {}, lost[2] = {}, seen[2] = {};
  const auto words = [&](int k) {
    return cuda::StepFlags{.gradient = &gradients[k], .seen = &seen[k], .lost = &lost[k], .before = &lost[1 - k]};
  };
  words(0).report_value();
  CHECK_FALSE(words(0).stopped());
  CHECK(words(1).stopped());
  CHECK((seen[0] == 1 && seen[1] == 0));
  lost[0] = 0;
  words(1).report_gradient();
  CHECK(words(1).stopped());
  CHECK(words(0).stopped());
}

TEST_CASE("threads find a number that is not finite wherever it stands", "[inference][cuda]") {
  Matrix<float> rows = drawn_rows(2, 131);
  const auto finite = [&] { return for_each_group(rows.view(), cuda::FiniteGroup{rows.view()}); };
  CHECK(finite());
  for (const std::int64_t place : {0, 5, 127, 130}) {
    for (const float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      const float before = std::exchange(rows.view()(1, place), odd);
      CHECK_FALSE(finite());
      rows.view()(1, place) = before;
    }
  }
}

TEST_CASE("threads set what is held to zero, and numbers to a value", "[inference][cuda]") {
  std::vector<float> numbers(5);
  const std::vector<std::uint8_t> free{1, 0, 1, 0};
  for_each_index(5, cuda::FillNumber{numbers.data(), 2});
  for_each_index(4, cuda::HoldNumber{numbers.data(), free.data()});
  CHECK(numbers == std::vector<float>{2, 0, 2, 0, 2});
}
