#include <stein/inference/cuda/launch.h>
#include <stein/inference/cuda/optimizer_body.h>
#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/cuda/sampler_kernels.h>

#include <type_traits>

namespace stein::inference::cuda {
namespace {

template <OptimizerMethod method>
void launch_stein_update(const OptimizerStep& step, const SteinRows& rows, const StepFlags& flags, GpuStream stream) {
  if (rows.weights.with_positions)
    launch(SteinUpdate<method, true>(rows, step, flags), stream);
  else
    launch(SteinUpdate<method, false>(rows, step, flags), stream);
}

std::int64_t all_lanes(const MatrixView<const float>& rows) {
  return rows.rows * sum_blocks(rows.columns) * sum_lanes;
}

}  // namespace

void diffuse(Dynamics dynamics, const DiffusionNumbers& numbers, const DiffusionRows& rows, const StepFlags& flags,
             GpuStream stream) {
  with_step<NumberOperations<float>>(dynamics, numbers, [&](const auto& move) {
    using Step = std::decay_t<decltype(move)>;
    launch_checked<true>(rows.values, DiffuseGroup<Step>{rows, move}, flags, stream);
  });
}

void ascend(OptimizerMethod method, const OptimizerStep& step, MatrixView<float> values,
            MatrixView<const float> directions, MatrixView<float> mean, MatrixView<float> square,
            const StepFlags& flags, GpuStream stream) {
  switch (method) {
    case OptimizerMethod::sgd:
      return launch_checked<true>(values, AscendGroup<OptimizerMethod::sgd>{values, directions, mean, square, step},
                                  flags, stream);
    case OptimizerMethod::rmsprop:
      return launch_checked<true>(values, AscendGroup<OptimizerMethod::rmsprop>{values, directions, mean, square, step},
                                  flags, stream);
    case OptimizerMethod::adam:
      return launch_checked<true>(values, AscendGroup<OptimizerMethod::adam>{values, directions, mean, square, step},
                                  flags, stream);
  }
}

void stein_update(OptimizerMethod method, const OptimizerStep& step, const SteinRows& rows, const StepFlags& flags,
                  GpuStream stream) {
  switch (method) {
    case OptimizerMethod::sgd: return launch_stein_update<OptimizerMethod::sgd>(step, rows, flags, stream);
    case OptimizerMethod::rmsprop: return launch_stein_update<OptimizerMethod::rmsprop>(step, rows, flags, stream);
    case OptimizerMethod::adam: return launch_stein_update<OptimizerMethod::adam>(step, rows, flags, stream);
  }
}

void add_up_pairs(PairTerm term, const PairRows& rows, const PairGrid& grid, double* sums, GpuStream stream) {
  switch (term) {
    case PairTerm::squared_difference: return launch(PairSums<PairTerm::squared_difference>{rows, grid, sums}, stream);
    case PairTerm::product: return launch(PairSums<PairTerm::product>{rows, grid, sums}, stream);
  }
}

void add_up_ranges(const PairGrid& grid, const double* sums, double* totals, GpuStream stream) {
  launch(grid.sums(), RangeSum{sums, grid.ranges, grid.sums(), totals}, stream);
}

void make_stein_weights(const MakeSteinWeights& body, GpuStream stream) {
  launch(body, stream);
}

void draw(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation, GpuStream stream) {
  launch(rows, DrawGroup{rows, key, first_row, deviation}, stream);
}

void look_for_not_finite(MatrixView<const float> rows, const StepFlags& flags, GpuStream stream) {
  launch_checked<false>(rows, FiniteGroup{rows}, flags, stream);
}

void add_up_squares(MatrixView<const float> rows, float* sums, GpuStream stream) {
  launch(all_lanes(rows), LaneSum<SquareSum::rounded, float>{rows, sums}, stream);
}

void add_up_momentum_squares(MatrixView<const float> rows, float* sums, GpuStream stream) {
  launch(all_lanes(rows), LaneSum<SquareSum::multiplied, float>{rows, sums}, stream);
}

void add_up_wide_squares(MatrixView<const float> rows, const double* squares, double* sums, GpuStream stream) {
  launch(all_lanes(rows), WideLaneSum{{rows, sums}, squares}, stream);
}

void add_up_lanes(const AddUpLanes<float>& body, GpuStream stream) {
  launch(body, stream);
}

void add_up_lanes(const AddUpLanes<double>& body, GpuStream stream) {
  launch(body, stream);
}

void clip(const ClipGroup& body, GpuStream stream) {
  launch(body.rows, body, stream);
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

void add_up_run_squares(const AddRunSquares& body, GpuStream stream) {
  launch(body.values.rows * learned_lanes, body, stream);
}

void subtract_learned(const SubtractLearnedGroup& body, GpuStream stream) {
  launch(body.gradient, body, stream);
}

void add_precision_slopes(const AddPrecisionSlope& body, GpuStream stream) {
  launch(body.values.rows, body, stream);
}

void hold(float* values, const std::uint8_t* free, std::int64_t count, GpuStream stream) {
  launch(count, HoldNumber{values, free}, stream);
}

void fill(float* values, float value, std::int64_t count, GpuStream stream) {
  launch(count, FillNumber{values, value}, stream);
}

}  // namespace stein::inference::cuda
