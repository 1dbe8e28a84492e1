#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/finite_flag.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/stein_driver.h>
#include <stein/inference/cuda/upload.h>
#include <stein/inference/samplers/stein_move.h>

#include <cmath>

namespace stein::inference::cuda {

std::int32_t device_of_rows(const MatrixView<const float>& rows) {
  STEIN_CHECK(reinterpret_cast<std::uintptr_t>(rows.data) % sizeof(FourNumbers) == 0 && rows.stride % group_size == 0,
              "the CUDA driver of samplers: expected rows that begin on 16 bytes, as those of a Matrix");
  return device_of(rows.data);
}

namespace {

/// Throws Error(usage) for more particles than the kernels of SVGD go over together.
void check_tiled(std::int64_t rows) {
  STEIN_CHECK(rows <= most_tiled_rows, "SVGD on a GPU: expected at most {} particles, got {}", most_tiled_rows, rows);
}

/// A term of every pair of rows, added up over all coordinates.
void add_up_pairs_of(PairTerm term, MatrixView<const float> rows, std::span<double> matrix) {
  check_tiled(rows.rows);
  if (rows.empty()) return;
  const CurrentDevice device(device_of_rows(rows));
  const PairGrid grid(rows.rows, rows.columns);
  const auto count = static_cast<std::size_t>(grid.sums());
  const Scratch<double> sums(static_cast<std::size_t>(grid.ranges) * count), totals(count);
  add_up_pairs(term, {.values = rows}, grid, sums.data(), first_stream);
  add_up_ranges(grid, sums.data(), totals.data(), first_stream);
  pair_matrix(grid, totals.on_host(), matrix);
}

BandwidthNumbers bandwidth_numbers(const SvgdKernelOptions& options, std::int64_t rows) {
  return {.fixed = options.bandwidth_rule == Bandwidth::fixed,
          .over_pairs = options.median_over == MedianOver::pairs,
          .given = options.bandwidth,
          .scale = median_scale(options.bandwidth_rule),
          .log_count = std::log(static_cast<double>(rows) + 1)};
}

/// Moves rows by weights that are on the current GPU.
bool update(MatrixView<float> values, MatrixView<const float> gradients, const SteinWeights& weights,
            OptimizerState<float>& state, const OptimizerStep& step, const FiniteFlag& flag) {
  const SteinRows rows{
      .values = values, .gradients = gradients, .mean = state.mean(), .square = state.square(), .weights = weights};
  stein_update(state.method(), step, rows, flag.words(), first_stream);
  return flag.finite(first_stream);
}

}  // namespace

void squared_distances_of(MatrixView<const float> rows, std::span<double> distances) {
  add_up_pairs_of(PairTerm::squared_difference, rows, distances);
}

void inner_products_of(MatrixView<const float> rows, std::span<double> products) {
  add_up_pairs_of(PairTerm::product, rows, products);
}

bool stein_update_rows(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                       OptimizerState<float>& state, const OptimizerStep& step, MoveWatch* watch) {
  check_tiled(values.rows);
  if (values.empty()) return true;
  const CurrentDevice device(device_of_rows(values));
  const FiniteFlag flag(watch);
  if (flag.looks()) look_for_not_finite(gradients, flag.words(), first_stream);
  const std::vector<FourDoubles> numbers = by_tiles(weights, values.rows);
  const Scratch<FourDoubles> there(numbers.size());
  upload(there.data(), numbers.data(), numbers.size() * sizeof(FourDoubles), first_stream);
  return update(values, gradients, {there.data(), values.rows, !weights.position.empty()}, state, step, flag);
}

bool stein_move_rows(const SteinMove<float>& move) {
  const MatrixView<const float> positions = move.values;
  const bool linear = move.kernel.kernel == SvgdKernel::linear;
  if (positions.rows > MakeSteinWeights::most_rows) {  // more than a block has room for: by the host
    (linear ? inner_products_of : squared_distances_of)(positions, move.distances);
    kernel_weights(move.kernel, move.distances, positions.rows, move.weights);
    return stein_update_rows(move.values, move.gradients, move.weights, move.state, move.step, move.watch);
  }
  if (positions.empty()) return true;
  const CurrentDevice device(device_of_rows(positions));
  const FiniteFlag flag(move.watch);
  const PairGrid grid(positions.rows, positions.columns);
  const Scratch<double> sums(static_cast<std::size_t>(grid.ranges * grid.sums()));
  SteinWeights weights{.rows = positions.rows, .with_positions = move.kernel.kernel == SvgdKernel::imq};
  const Scratch<FourDoubles> numbers(static_cast<std::size_t>(weights.size()));
  weights.numbers = numbers.data();
  add_up_pairs(linear ? PairTerm::product : PairTerm::squared_difference,
               {.values = positions,
                .gradients = flag.looks() ? move.gradients : MatrixView<const float>(),
                .flags = flag.words()},
               grid, sums.data(), first_stream);
  make_stein_weights({.kernel = move.kernel.kernel,
                      .numbers = bandwidth_numbers(move.kernel, positions.rows),
                      .grid = grid,
                      .sums = sums.data(),
                      .to = weights},
                     first_stream);
  return update(move.values, move.gradients, weights, move.state, move.step, flag);
}

}  // namespace stein::inference::cuda
