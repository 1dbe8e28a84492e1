// The loops of samplers, priors and diagnostics that go over every coordinate, made in one way or another.
#pragma once

#include <stein/core/registry.h>
#include <stein/core/rng.h>
#include <stein/inference/ensemble.h>
#include <stein/inference/samplers/gradient_clip.h>
#include <stein/inference/samplers/move_watch.h>
#include <stein/inference/storage/matrix_view.h>

#include <memory>
#include <span>
#include <string_view>

namespace stein::inference {

template <class Scalar>
struct DiffusionStep;
struct DiffusionResult;
template <class Scalar>
class OptimizerState;
struct OptimizerStep;
struct KernelWeights;
struct LearnedPrecision;
template <class Scalar>
struct SteinMove;

/// Numbers first, …, first + count − 1 of every row, and what they are multiplied with.
template <class Scalar>
struct ScaledRun {
  std::int64_t first, count;
  Scalar scale;
};

/// A table of functions: every loop of one way of computing on one device. What each does stands with its reference.
template <class Scalar>
struct Driver {
  std::string_view name;  ///< "reference", "simd", "cuda"
  /// What watches the steps of one sampler on a device whose host runs ahead of it; null: moves answer when they have
  /// been made. Moves and clipping that are given a watch look at their gradients themselves, move nothing where one is
  /// not finite, tell the watch, and answer yes. Without one they answer at once, and whoever asks for a move looks at
  /// its gradients before.
  std::unique_ptr<MoveWatch> (*watch)(Device device) = nullptr;
  /// One step of a stochastic-gradient MCMC dynamics (diffusion_pass.h).
  void (*diffuse)(const DiffusionStep<Scalar>& step, DiffusionResult& result);
  /// Every row along its own direction, through the optimizer (svgd_pass.h, as the next, distances and products).
  bool (*ascend)(MatrixView<Scalar> values, MatrixView<const Scalar> directions, OptimizerState<Scalar>& state,
                 const OptimizerStep& step, MoveWatch* watch);
  bool (*stein_update)(MatrixView<Scalar> values, MatrixView<const Scalar> gradients, const KernelWeights& weights,
                       OptimizerState<Scalar>& state, const OptimizerStep& step, MoveWatch* watch);
  /// One move of SVGD: distances or products, the weights of its kernel, the update.
  /// @returns whether all values are finite after it
  bool (*stein_move)(const SteinMove<Scalar>& move);
  void (*squared_distances)(MatrixView<const Scalar> values, std::span<double> distances);
  void (*inner_products)(MatrixView<const Scalar> values, std::span<double> products);
  /// Row i ← N(0, deviation²) from row first_row + i of the sheet of `key`.
  void (*draw)(MatrixView<Scalar> rows, const NoiseKey& key, std::int64_t first_row, double deviation);
  /// Limits the length of every row (gradient_clip.h).
  void (*clip)(MatrixView<Scalar> gradients, const GradientClipOptions& options, MoveWatch* watch);
  bool (*all_finite)(MatrixView<const Scalar> rows);
  /// Sets numbers to 0 where `free` is 0; those past its end are free.
  void (*hold)(std::span<Scalar> values, std::span<const std::uint8_t> free);
  /// gradient ← gradient − scale · values (fused/vector_arithmetic.h).
  /// @param squares  Σ values² goes there; null: it is not asked for
  void (*subtract_scaled)(std::span<const Scalar> values, Scalar scale, std::span<Scalar> gradient, double* squares);
  /// The same over runs of all rows, no two of which have a number in common.
  void (*subtract_runs)(MatrixView<const Scalar> values, std::span<const ScaledRun<Scalar>> runs,
                        MatrixView<Scalar> gradient);
  /// Adds the slopes of numbers with a precision that is sampled beside them (learned_precision.h), row by row: x gets
  /// −λ x, and log λ what precision_slopes.h says.
  void (*add_learned_precision)(MatrixView<const Scalar> values, const LearnedPrecision& precision,
                                MatrixView<Scalar> gradient);
  /// Σ values² (fused/vector_arithmetic.h).
  double (*sum_of_squares)(std::span<const Scalar> values);
  /// sum ← sum + Σ a·b, products and sum in double, in a fixed order: on the host one product after the other.
  void (*add_products)(std::span<const Scalar> a, std::span<const Scalar> b, double& sum);
};

/// Drivers of devices other than the host, by the name of their kind; empty until the library of a device is loaded.
Registry<const Driver<float>*>& device_drivers();

/// The driver of an ensemble: its arithmetic on its device. In double there is the reference only.
/// Throws Error(usage) where Stein was built without the library of the device, and in double on a device.
template <class Scalar>
const Driver<Scalar>& driver(const Ensemble& ensemble);

}  // namespace stein::inference
