// The kernels of samplers. Pointers are to memory of the current device; every function returns before its kernel has
// run, and throws nothing: cudaGetLastError says whether it could be started. Moves look at the flags of their step.
#pragma once

#include <stein/inference/cuda/clip_body.h>
#include <stein/inference/cuda/diffusion_body.h>
#include <stein/inference/cuda/lane_sums.h>
#include <stein/inference/cuda/learned_precision_body.h>
#include <stein/inference/cuda/pair_sums.h>
#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/cuda/stein_body.h>
#include <stein/inference/cuda/stein_weights_body.h>
#include <stein/inference/cuda/step_flags.h>
#include <stein/inference/samplers/optimizer_step.h>

#include <cstdint>

struct CUstream_st;  // cudaStream_t points to it

namespace stein::inference::cuda {

/// Where kernels are put in order.
using GpuStream = CUstream_st*;

/// Moves all values and states by one step.
void diffuse(Dynamics dynamics, const DiffusionNumbers& numbers, const DiffusionRows& rows, const StepFlags& flags,
             GpuStream stream);
/// Moves all rows along their directions; `mean` and `square` are without data where the method keeps none.
void ascend(OptimizerMethod method, const OptimizerStep& step, MatrixView<float> values,
            MatrixView<const float> directions, MatrixView<float> mean, MatrixView<float> square,
            const StepFlags& flags, GpuStream stream);
/// Moves all rows along the Stein direction, through the optimizer.
void stein_update(OptimizerMethod method, const OptimizerStep& step, const SteinRows& rows, const StepFlags& flags,
                  GpuStream stream);
/// A term of every pair of rows, added up over each range of the grid, to sums [ranges, 16, tiles]; looks at gradients
/// on the way, where there are some.
void add_up_pairs(PairTerm term, const PairRows& rows, const PairGrid& grid, double* sums, GpuStream stream);
/// The sums of the ranges added up, to totals [16, tiles], which `pair_matrix` reads.
void add_up_ranges(const PairGrid& grid, const double* sums, double* totals, GpuStream stream);
/// The weights of SVGD's kernel from the sums of the ranges.
void make_stein_weights(const MakeSteinWeights& body, GpuStream stream);
/// Row i ← N(0, deviation²) from row first_row + i of the sheet of `key`.
void draw(MatrixView<float> rows, const NoiseKey& key, std::int64_t first_row, double deviation, GpuStream stream);
/// Looks for a number of a gradient that is not finite.
void look_for_not_finite(MatrixView<const float> rows, const StepFlags& flags, GpuStream stream);
/// The lanes of the squares of every row, [rows, blocks, 16]: of gradients, of momenta, and in double where `squares`
/// [rows], the sums in float, are not finite.
void add_up_squares(MatrixView<const float> rows, float* sums, GpuStream stream);
void add_up_momentum_squares(MatrixView<const float> rows, float* sums, GpuStream stream);
void add_up_wide_squares(MatrixView<const float> rows, const double* squares, double* sums, GpuStream stream);
/// The sums of the lanes of every row.
void add_up_lanes(const AddUpLanes<float>& body, GpuStream stream);
void add_up_lanes(const AddUpLanes<double>& body, GpuStream stream);
/// Scales rows down to the limit.
void clip(const ClipGroup& body, GpuStream stream);
/// The lanes of the products of `count` numbers, [blocks, 16], in double.
void add_up_products(const float* a, const float* b, std::int64_t count, double* sums, GpuStream stream);
/// gradient ← gradient − scale · values.
void subtract(const float* values, float scale, float* gradient, std::int64_t count, GpuStream stream);
/// gradient ← gradient − scale · values over runs of all rows.
void subtract_runs(const SubtractRunsGroup& body, GpuStream stream);
/// The lanes of the squares of runs of every row.
void add_up_run_squares(const AddRunSquares& body, GpuStream stream);
/// gradient ← gradient − λ values over runs of all rows, each with a λ of its own.
void subtract_learned(const SubtractLearnedGroup& body, GpuStream stream);
/// What the logarithm of each row's λ gets.
void add_precision_slopes(const AddPrecisionSlope& body, GpuStream stream);
/// Sets `count` numbers to 0 where `free` is 0.
void hold(float* values, const std::uint8_t* free, std::int64_t count, GpuStream stream);
/// Sets `count` numbers.
void fill(float* values, float value, std::int64_t count, GpuStream stream);

}  // namespace stein::inference::cuda
