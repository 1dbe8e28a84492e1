// The kernels around the bodies: included by sources that nvcc compiles.
#pragma once

#include <stein/inference/cuda/block_phases.h>
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

}  // namespace stein::inference::cuda
