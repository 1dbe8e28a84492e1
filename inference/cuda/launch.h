// The kernels around the bodies: included by sources that nvcc compiles.
#pragma once

#include <stein/inference/cuda/block_phases.h>
#include <stein/inference/cuda/block_threads.h>
#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/sampler_kernels.h>

namespace stein::inference::cuda {

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
  start(for_each_index<Body>, blocks, block_threads, stream, count, body);
}

/// body(place) of every group of a grid, each in a thread of its own.
template <class Body>
__global__ void __launch_bounds__(block_threads) for_each_group(GroupGrid grid, Body body) {
  const std::int64_t row = grid.row(blockIdx.y, threadIdx.y), group = grid.group(blockIdx.x, threadIdx.x);
  if (grid.has(row, group)) body(group_place(grid.columns, row, group));
}

/// The same for bodies that say whether what they saw or made is finite.
/// @tparam moves  where the step is stopped no body is called, and what is not finite is a value; else it is a gradient
/// @param rows    what the bodies look at or make
/// Held to four blocks a multiprocessor, so to 64 registers a thread: told nothing, ptxas spills a number to stay
/// at 32.
template <bool moves, class Body>
__global__ void __launch_bounds__(block_threads, 4)
    check_each_group(GroupGrid grid, MatrixView<const float> rows, Body body, StepFlags flags) {
  if constexpr (moves)
    if (flags.stopped()) return;  // the same for all threads
  const std::int64_t row = grid.row(blockIdx.y, threadIdx.y), group = grid.group(blockIdx.x, threadIdx.x);
  bool finite = true;
  if (grid.has(row, group)) {
    const GroupPlace place = group_place(grid.columns, row, group);
    finite = body(place);
    if (!finite) flags.name(!moves, place, group_at(rows, place));
  }
  const bool first = threadIdx.x == 0 && threadIdx.y == 0;
  if (__syncthreads_or(static_cast<int>(!finite)) == 0 || !first) return;
  if constexpr (moves)
    flags.report_value();
  else
    flags.report_gradient();
}

template <class Body>
void launch(const MatrixView<const float>& rows, const Body& body, GpuStream stream) {
  with_grids(rows.rows, rows.columns, [&](const GroupGrid& grid) {
    const dim3 blocks(grid.blocks_x, grid.blocks_y), threads(grid.across, grid.along);
    start(for_each_group<Body>, blocks, threads, stream, grid, body);
  });
}

template <bool moves, class Body>
void launch_checked(const MatrixView<const float>& rows, const Body& body, const StepFlags& flags, GpuStream stream) {
  with_grids(rows.rows, rows.columns, [&](const GroupGrid& grid) {
    const dim3 blocks(grid.blocks_x, grid.blocks_y), threads(grid.across, grid.along);
    start(check_each_group<moves, Body>, blocks, threads, stream, grid, rows, body, flags);
  });
}

/// The phases of a body, with a barrier between any two.
template <PhasedBody Body>
__global__ void __launch_bounds__(block_threads) for_each_phase(Body body) {
  typename Body::Shared& shared = block_memory<typename Body::Shared>();
  typename Body::Own own{};
  for (std::int64_t phase = 0; phase < body.phases(); ++phase) {
    if (phase > 0) __syncthreads();
    body(phase, blockIdx.x, static_cast<int>(threadIdx.x), shared, own);
  }
}

template <PhasedBody Body>
void launch(const Body& body, GpuStream stream) {
  start(for_each_phase<Body>, static_cast<unsigned>(body.blocks()), block_threads, stream, body);
}

}  // namespace stein::inference::cuda
