#include <stein/inference/cuda/optimizer_body.h>
#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/cuda/sampler_kernels.h>

#include <type_traits>

namespace stein::inference::cuda {
namespace {

constexpr unsigned threads = 256;  // of a block

/// body(0), …, body(count − 1), each in a thread of its own.
template <class Body>
__global__ void __launch_bounds__(threads) for_each_index(std::int64_t count, Body body) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (index < count) body(index);
}

/// The same, and *not_finite ← 1 where a body answers no. Whichever block writes first, the outcome is the same.
template <class Body>
__global__ void __launch_bounds__(threads) for_each_index(std::int64_t count, Body body, int* not_finite) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
  const bool finite = index >= count || body(index);
  if (__syncthreads_or(static_cast<int>(!finite)) != 0 && threadIdx.x == 0) atomicOr(not_finite, 1);
}

template <class Body, class... Flag>
void launch(std::int64_t count, const Body& body, GpuStream stream, Flag... not_finite) {
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + threads - 1) / threads);
  for_each_index<<<blocks, threads, 0, stream>>>(count, body, not_finite...);
}

std::int64_t all_groups(const MatrixView<const float>& rows) {
  return rows.rows * groups_in_row(rows.columns);
}

std::int64_t all_lanes(const MatrixView<const float>& rows) {
  return rows.rows * sum_blocks(rows.columns) * sum_lanes;
}

}  // namespace

void diffuse(Dynamics dynamics, const DiffusionNumbers& numbers, const DiffusionRows& rows, int* not_finite,
             GpuStream stream) {
  with_step<NumberOperations<float>>(dynamics, numbers, [&](const auto& move) {
    using Step = std::decay_t<decltype(move)>;
    launch(all_groups(rows.values), DiffuseGroup<Step>{rows, move}, stream, not_finite);
  });
}

void ascend(OptimizerMethod method, const OptimizerStep& step, MatrixView<float> values,
            MatrixView<const float> directions, MatrixView<float> mean, MatrixView<float> square, int* not_finite,
            GpuStream stream) {
  const std::int64_t count = all_groups(values);
  switch (method) {
    case OptimizerMethod::sgd:
      return launch(count, AscendGroup<OptimizerMethod::sgd>{values, directions, mean, square, step}, stream,
                    not_finite);
    case OptimizerMethod::rmsprop:
      return launch(count, AscendGroup<OptimizerMethod::rmsprop>{values, directions, mean, square, step}, stream,
                    not_finite);
    case OptimizerMethod::adam:
      return launch(count, AscendGroup<OptimizerMethod::adam>{values, directions, mean, square, step}, stream,
                    not_finite);
  }
}

void draw(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation, GpuStream stream) {
  launch(all_groups(rows), DrawGroup{rows, key, first_row, deviation}, stream);
}

void multiply(MatrixView<float> rows, double factor, GpuStream stream) {
  launch(all_groups(rows), MultiplyGroup{rows, factor}, stream);
}

void look_for_not_finite(MatrixView<const float> rows, int* not_finite, GpuStream stream) {
  launch(all_groups(rows), FiniteGroup{rows}, stream, not_finite);
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
  launch(count, SubtractNumber{values, scale, gradient}, stream);
}

void hold(float* values, const std::uint8_t* free, std::int64_t count, GpuStream stream) {
  launch(count, HoldNumber{values, free}, stream);
}

void fill(float* values, float value, std::int64_t count, GpuStream stream) {
  launch(count, FillNumber{values, value}, stream);
}

}  // namespace stein::inference::cuda
