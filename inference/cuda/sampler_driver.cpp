// The loops of samplers on a GPU, registered as "cuda": the same bits as the reference in float, in the stream 0 of the
// GPU that the particles lie on; sums in double over all coordinates (distances, products) are added in another order
// than the reference's and differ by a few roundings. Numbers of a step that samplers keep on the host (thermostats,
// what is held, Σ r²) are copied in every step. The host does not wait for a step that a watch is told of.
#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/finite_flag.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/stein_driver.h>
#include <stein/inference/cuda/step_watch.h>
#include <stein/inference/priors/learned_precision.h>
#include <stein/inference/samplers/diffusion.h>
#include <stein/inference/samplers/driver.h>
#include <stein/inference/samplers/optimizer.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace stein::inference::cuda {
namespace {

void diffuse_rows(const DiffusionStep<float>& step, DiffusionResult& result) {
  const CurrentDevice device(device_of_rows(step.values));
  const bool adds_up = step.dynamics == Dynamics::sgnht_scalar && !result.momentum_squares.empty();
  const auto lanes = static_cast<std::size_t>(adds_up ? sum_blocks(step.values.columns) * sum_lanes : 0);
  const Scratch<float> thermostats(step.thermostats), sums(lanes * static_cast<std::size_t>(step.values.rows));
  const FiniteFlag flag(step.watch);
  // What comes before a gradient reads none.
  if (step.dynamics != Dynamics::santa_half_move && flag.looks())
    look_for_not_finite(step.gradients, flag.words(), first_stream);
  DiffusionRows rows{.values = step.values,
                     .gradients = step.gradients,
                     .states = {step.states[0], step.states[1], step.states[2]},
                     .thermostats = thermostats.data(),
                     .noise = step.noise,
                     .first_row = step.first_row};
  diffuse(step.dynamics, step.numbers, rows, flag.words(), first_stream);
  if (adds_up) {
    add_up_momentum_squares(step.states[0], sums.data(), first_stream);
    const std::vector<float> on_host = sums.on_host();
    for (std::size_t i = 0; i < result.momentum_squares.size(); ++i)
      result.momentum_squares[i] = sum_of_block_lanes(std::span(on_host).subspan(i * lanes, lanes));
  }
  result.finite = flag.finite(first_stream);
}

bool ascend_rows(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state,
                 const OptimizerStep& step, MoveWatch* watch) {
  const CurrentDevice device(device_of_rows(values));
  const FiniteFlag flag(watch);
  if (flag.looks()) look_for_not_finite(directions, flag.words(), first_stream);
  ascend(state.method(), step, values, directions, state.mean(), state.square(), flag.words(), first_stream);
  return flag.finite(first_stream);
}

void draw_rows(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation) {
  const CurrentDevice device(device_of_rows(rows));
  draw(rows, key, first_row, deviation, first_stream);
  check(cudaGetLastError(), "draw numbers on the GPU");
}

/// The lanes of the squares of every row.
template <class Sum, class AddUp>
std::vector<Sum> lanes_of(MatrixView<const float> rows, const AddUp& add_up) {
  const Scratch<Sum> sums(static_cast<std::size_t>(rows.rows * sum_blocks(rows.columns) * sum_lanes));
  add_up(rows, sums.data(), first_stream);
  return sums.on_host();
}

void clip_rows(MatrixView<float> gradients, const GradientClipOptions& options, MoveWatch* watch) {
  if (options.clip_norm == 0 || gradients.empty()) return;
  const CurrentDevice device(device_of_rows(gradients));
  const FiniteFlag flag(watch);
  if (watch != nullptr && flag.looks()) look_for_not_finite(gradients, flag.words(), first_stream);
  const std::int64_t rows = gradients.rows, lanes = sum_blocks(gradients.columns) * sum_lanes;
  const Scratch<float> narrow(static_cast<std::size_t>(rows * lanes));
  const Scratch<double> wide(static_cast<std::size_t>(rows * lanes)),
      totals(static_cast<std::size_t>(rows * square_parts(gradients.columns) * sum_lanes)),
      squares(static_cast<std::size_t>(rows)), wide_squares(static_cast<std::size_t>(rows));
  add_up_squares(gradients, narrow.data(), first_stream);
  add_up_lanes({narrow.data(), rows, gradients.columns, totals.data(), squares.data()}, first_stream);
  add_up_wide_squares(gradients, squares.data(), wide.data(), first_stream);
  add_up_lanes({wide.data(), rows, gradients.columns, totals.data(), wide_squares.data(), squares.data()},
               first_stream);
  clip({gradients, squares.data(), wide_squares.data(), options.clip_norm, options.clip_rule, flag.words()},
       first_stream);
  check(cudaGetLastError(), "clip gradients on the GPU");
}

bool all_finite_rows(MatrixView<const float> rows) {
  if (rows.empty()) return true;
  const CurrentDevice device(device_of_rows(rows));
  const FiniteFlag flag;
  look_for_not_finite(rows, flag.words(), first_stream);
  return flag.finite(first_stream);
}

void hold_numbers(std::span<float> values, std::span<const std::uint8_t> free) {
  if (free.empty()) return;
  const CurrentDevice device(
      device_of_rows({values.data(), 1, std::ssize(values), padded_columns(std::ssize(values))}));
  const Scratch<std::uint8_t> free_here(free);
  hold(values.data(), free_here.data(), std::ssize(free), first_stream);
  check(cudaGetLastError(), "hold numbers on the GPU");
}

/// Σ values² on the current GPU.
double sum_of_squares_here(std::span<const float> values) {
  const auto lanes = lanes_of<float>({values.data(), 1, std::ssize(values)}, add_up_squares);
  return sum_of_square_lanes<float>(lanes, std::ssize(values));
}

double sum_of_squares_on_gpu(std::span<const float> values) {
  if (values.empty()) return 0;
  const CurrentDevice device(device_of(values.data()));
  return sum_of_squares_here(values);
}

void subtract_numbers(std::span<const float> values, float scale, std::span<float> gradient, double* squares) {
  if (squares != nullptr) *squares = 0;
  if (values.empty()) return;
  const CurrentDevice device(device_of(values.data()));
  if (squares != nullptr) *squares = sum_of_squares_here(values);
  subtract(values.data(), scale, gradient.data(), std::ssize(values), first_stream);
  check(cudaGetLastError(), "subtract numbers on the GPU");
}

void subtract_runs_of_rows(MatrixView<const float> values, std::span<const ScaledRun<float>> runs,
                           MatrixView<float> gradient) {
  if (gradient.empty()) return;
  const CurrentDevice device(device_of_rows(gradient));
  SubtractRunsGroup body{.values = values, .gradient = gradient};
  for (std::size_t begin = 0; begin < runs.size(); begin += RowRuns::most) {
    body.runs = RowRuns::some_of(runs, begin);
    for (int k = 0; k < body.runs.count; ++k) body.scale[k] = runs[begin + static_cast<std::size_t>(k)].scale;
    subtract_runs(body, first_stream);
  }
  check(cudaGetLastError(), "subtract numbers on the GPU");
}

void add_learned_precision_of(MatrixView<const float> values, const LearnedPrecision& precision,
                              MatrixView<float> gradient) {
  if (gradient.empty()) return;
  const CurrentDevice device(device_of_rows(gradient));
  const std::span<const NumberRun> all = precision.runs;
  const Scratch<double> sums(all.empty() ? 0 : static_cast<std::size_t>(values.rows * learned_lanes));
  for (std::size_t begin = 0; begin < all.size(); begin += RowRuns::most) {
    const RowRuns runs = RowRuns::some_of(all, begin);
    add_up_run_squares({values, runs, begin == 0, sums.data()}, first_stream);
    subtract_learned({values, gradient, precision.coordinate, runs}, first_stream);
  }
  add_precision_slopes({.values = values,
                        .gradient = gradient,
                        .coordinate = precision.coordinate,
                        .sums = sums.data(),
                        .variables = static_cast<double>(precision.variables),
                        .shape = precision.gamma.gamma_shape,
                        .rate = precision.gamma.gamma_rate},
                       first_stream);
  check(cudaGetLastError(), "add slopes of precisions on the GPU");
}

void add_products(std::span<const float> a, std::span<const float> b, double& sum) {
  if (a.empty()) return;
  const CurrentDevice device(device_of(a.data()));
  const Scratch<double> sums(static_cast<std::size_t>(sum_blocks(std::ssize(a)) * sum_lanes));
  add_up_products(a.data(), b.data(), std::ssize(a), sums.data(), first_stream);
  const std::vector<double> lanes = sums.on_host();
  sum += sum_of_block_lanes(std::span(lanes));
}

std::unique_ptr<MoveWatch> watch_steps(Device device) {
  return std::make_unique<StepWatch>(device);
}

constexpr Driver<float> cuda_driver{.name = "cuda",
                                    .watch = watch_steps,
                                    .diffuse = diffuse_rows,
                                    .ascend = ascend_rows,
                                    .stein_update = stein_update_rows,
                                    .stein_move = stein_move_rows,
                                    .squared_distances = squared_distances_of,
                                    .inner_products = inner_products_of,
                                    .draw = draw_rows,
                                    .clip = clip_rows,
                                    .all_finite = all_finite_rows,
                                    .hold = hold_numbers,
                                    .subtract_scaled = subtract_numbers,
                                    .subtract_runs = subtract_runs_of_rows,
                                    .add_learned_precision = add_learned_precision_of,
                                    .sum_of_squares = sum_of_squares_on_gpu,
                                    .add_products = add_products};

const bool registered = device_drivers().add("cuda", &cuda_driver);

}  // namespace
}  // namespace stein::inference::cuda
