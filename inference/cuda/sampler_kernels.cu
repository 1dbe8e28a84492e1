#include <stein/inference/cuda/block_phases.h>
#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/optimizer_body.h>
#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/cuda/sampler_kernels.h>

#include <type_traits>

namespace stein::inference::cuda {
namespace {

/// body(0), …, body(count − 1), each in a thread of its own.
template <class Body>
__global__ void __launch_bounds__(block_threads) for_each_index(std::int64_t count, Body body) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (index < count) body(index);
}

template <class Body>
void launch(std::int64_t count, const Body& body, GpuStream stream) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  for_each_index<<<blocks, block_threads, 0, stream>>>(count, body);
}

/// body(place) of every group of a grid, each in a thread of its own.
template <class Body>
__global__ void __launch_bounds__(block_threads) for_each_group(GroupGrid grid, Body body) {
  const std::int64_t row = grid.row(blockIdx.y, threadIdx.y), group = grid.group(blockIdx.x, threadIdx.x);
  if (grid.has(row, group)) body(group_place(grid.columns, row, group));
}

/// The same, and *not_finite ← 1 where a body answers no. Every block writes the same number, so none needs a turn.
template <class Body>
__global__ void __launch_bounds__(block_threads) for_each_group(GroupGrid grid, Body body, int* not_finite) {
  const std::int64_t row = grid.row(blockIdx.y, threadIdx.y), group = grid.group(blockIdx.x, threadIdx.x);
  const bool finite = !grid.has(row, group) || body(group_place(grid.columns, row, group));
  const bool first = threadIdx.x == 0 && threadIdx.y == 0;
  if (__syncthreads_or(static_cast<int>(!finite)) != 0 && first) *static_cast<volatile int*>(not_finite) = 1;
}

template <class Body, class... Flag>
void launch(const MatrixView<const float>& rows, const Body& body, GpuStream stream, Flag... not_finite) {
  with_grids(rows.rows, rows.columns, [&](const GroupGrid& grid) {
    const dim3 blocks(grid.blocks_x, grid.blocks_y), threads(grid.across, grid.along);
    for_each_group<<<blocks, threads, 0, stream>>>(grid, body, not_finite...);
  });
}

/// The phases of a body, with a barrier between any two.
template <PhasedBody Body>
__global__ void __launch_bounds__(block_threads) for_each_phase(Body body) {
  __shared__ typename Body::Shared shared;
  typename Body::Own own{};
  for (std::int64_t phase = 0; phase < body.phases(); ++phase) {
    if (phase > 0) __syncthreads();
    body(phase, blockIdx.x, static_cast<int>(threadIdx.x), shared, own);
  }
}

template <PhasedBody Body>
void launch(const Body& body, GpuStream stream) {
  for_each_phase<<<static_cast<unsigned>(body.blocks()), block_threads, 0, stream>>>(body);
}

template <OptimizerMethod method>
void launch_stein_update(const OptimizerStep& step, const SteinRows& rows, int* not_finite, GpuStream stream) {
  if (rows.position_weights != nullptr)
    launch(SteinUpdate<method, true>(rows, step, not_finite), stream);
  else
    launch(SteinUpdate<method, false>(rows, step, not_finite), stream);
}

std::int64_t all_lanes(const MatrixView<const float>& rows) {
  return rows.rows * sum_blocks(rows.columns) * sum_lanes;
}

}  // namespace

void diffuse(Dynamics dynamics, const DiffusionNumbers& numbers, const DiffusionRows& rows, int* not_finite,
             GpuStream stream) {
  with_step<NumberOperations<float>>(dynamics, numbers, [&](const auto& move) {
    using Step = std::decay_t<decltype(move)>;
    launch(rows.values, DiffuseGroup<Step>{rows, move}, stream, not_finite);
  });
}

void ascend(OptimizerMethod method, const OptimizerStep& step, MatrixView<float> values,
            MatrixView<const float> directions, MatrixView<float> mean, MatrixView<float> square, int* not_finite,
            GpuStream stream) {
  switch (method) {
    case OptimizerMethod::sgd:
      return launch(values, AscendGroup<OptimizerMethod::sgd>{values, directions, mean, square, step}, stream,
                    not_finite);
    case OptimizerMethod::rmsprop:
      return launch(values, AscendGroup<OptimizerMethod::rmsprop>{values, directions, mean, square, step}, stream,
                    not_finite);
    case OptimizerMethod::adam:
      return launch(values, AscendGroup<OptimizerMethod::adam>{values, directions, mean, square, step}, stream,
                    not_finite);
  }
}

void stein_update(OptimizerMethod method, const OptimizerStep& step, const SteinRows& rows, int* not_finite,
                  GpuStream stream) {
  switch (method) {
    case OptimizerMethod::sgd: return launch_stein_update<OptimizerMethod::sgd>(step, rows, not_finite, stream);
    case OptimizerMethod::rmsprop: return launch_stein_update<OptimizerMethod::rmsprop>(step, rows, not_finite, stream);
    case OptimizerMethod::adam: return launch_stein_update<OptimizerMethod::adam>(step, rows, not_finite, stream);
  }
}

void add_up_pairs(PairTerm term, MatrixView<const float> rows, const PairGrid& grid, double* sums, double* totals,
                  GpuStream stream) {
  switch (term) {
    case PairTerm::squared_difference: launch(PairSums<PairTerm::squared_difference>{rows, grid, sums}, stream); break;
    case PairTerm::product: launch(PairSums<PairTerm::product>{rows, grid, sums}, stream); break;
  }
  launch(grid.sums(), RangeSum{sums, grid.ranges, grid.sums(), totals}, stream);
}

void draw(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation, GpuStream stream) {
  launch(rows, DrawGroup{rows, key, first_row, deviation}, stream);
}

void multiply(MatrixView<float> rows, double factor, GpuStream stream) {
  launch(rows, MultiplyGroup{rows, factor}, stream);
}

void look_for_not_finite(MatrixView<const float> rows, int* not_finite, GpuStream stream) {
  launch(rows, FiniteGroup{rows}, stream, not_finite);
}

void add_up_squares(MatrixView<const float> rows, float* sums, GpuStream stream) {
  launch(all_lanes(rows), LaneSum<SquareSum::rounded, float>{rows, sums}, stream);
}

void add_up_momentum_squares(MatrixView<const float> rows, float* sums, GpuStream stream) {
  launch(all_lanes(rows), LaneSum<SquareSum::multiplied, float>{rows, sums}, stream);
}

void add_up_wide_squares(MatrixView<const float> rows, double* sums, GpuStream stream) {
  launch(all_lanes(rows), LaneSum<SquareSum::wide, double>{rows, sums}, stream);
}

void add_up_products(const float* a, const float* b, std::int64_t count, double* sums, GpuStream stream) {
  launch(sum_blocks(count) * sum_lanes, LaneProduct{a, b, count, sums}, stream);
}

void subtract(const float* values, float scale, float* gradient, std::int64_t count, GpuStream stream) {
  const SubtractGroup body(values, scale, gradient, count);
  launch(body.groups(), body, stream);
}

void subtract_runs(const SubtractRunsGroup& body, GpuStream stream) {
  launch(body.gradient, body, stream);
}

void hold(float* values, const std::uint8_t* free, std::int64_t count, GpuStream stream) {
  launch(count, HoldNumber{values, free}, stream);
}

void fill(float* values, float value, std::int64_t count, GpuStream stream) {
  launch(count, FillNumber{values, value}, stream);
}

}  // namespace stein::inference::cuda
