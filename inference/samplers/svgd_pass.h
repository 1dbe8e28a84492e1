// The two passes of an SVGD step over all particles, as one would write them down: distances, and the update. Any
// precision; the float kernels in fused/svgd_pass.h are held to these by tests/inference/fused/svgd_pass_test.cpp.
//
// Ranks that share a step have the same rows: each makes some pairs, and moves some rows, to the bit what one process
// makes of them.
#pragma once

#include <stein/distributed/shared_work.h>
#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <optional>
#include <span>

namespace stein::inference::reference {

/// Squared distances ‖x_i − x_j‖² of all rows, [M·M]. Collective where ranks are several.
template <class Scalar>
void squared_distances(MatrixView<const Scalar> values, std::span<double> distances,
                       distributed::Communicator& ranks = distributed::single_process());

/// Inner products x_i · x_j of all rows, [M·M]. Collective where ranks are several.
template <class Scalar>
void inner_products(MatrixView<const Scalar> values, std::span<double> products,
                    distributed::Communicator& ranks = distributed::single_process());

/// Moves every particle, or some rows of them, along the Stein direction that `weights` describes, a sum over all rows,
/// through the optimizer.
/// @param moved  those rows; none: all
/// @returns whether their values are finite after it
template <class Scalar>
bool stein_update(MatrixView<Scalar> values, MatrixView<const Scalar> gradients, const KernelWeights& weights,
                  OptimizerState<Scalar>& state, const OptimizerStep& step,
                  std::optional<distributed::PartRange> moved = {});

/// Moves every row along its own direction, through the optimizer.
/// @returns whether all values are finite after it
template <class Scalar>
bool ascend(MatrixView<Scalar> values, MatrixView<const Scalar> directions, OptimizerState<Scalar>& state,
            const OptimizerStep& step);

}  // namespace stein::inference::reference
