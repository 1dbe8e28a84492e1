// The two passes of an SVGD step in SIMD: each reads all particles once, in columns that stay in the first-level cache.
// The same arithmetic as svgd_pass.h in float. Fixed splits, so the same bits at any thread count.
//
// Rows are read and written in whole vectors: all of values, gradients and the optimizer's averages must lie 16 floats
// or a multiple of them apart, with zeros between the last column and the next row, as those of `Particles` and
// `OptimizerState` do. The zeros stay.
#pragma once

#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <optional>
#include <span>

namespace stein::inference::fused {

/// Squared distances of all rows, [M·M]. Computed from inner products relative to one particle, and where two are much
/// nearer to each other than to it, from their differences: distances of nearly equal particles keep their digits.
/// Collective where ranks are several.
void squared_distances(MatrixView<const float> values, std::span<double> distances,
                       distributed::Communicator& ranks = distributed::single_process());

/// Inner products of all rows, [M·M]. Collective where ranks are several.
void inner_products(MatrixView<const float> values, std::span<double> products,
                    distributed::Communicator& ranks = distributed::single_process());

/// Moves every particle, or some rows of them, along the Stein direction, through the optimizer: direction and update
/// of a column block while it is in the cache.
/// @param moved  those rows; none: all
/// @returns whether their values are finite after it
bool stein_update(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                  OptimizerState<float>& state, const OptimizerStep& step,
                  std::optional<distributed::PartRange> moved = {});

/// Moves every row along its own direction, through the optimizer.
/// @returns whether all values are finite after it
bool ascend(MatrixView<float> values, MatrixView<const float> directions, OptimizerState<float>& state,
            const OptimizerStep& step);

}  // namespace stein::inference::fused
