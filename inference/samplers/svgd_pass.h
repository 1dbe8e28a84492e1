// The two passes of an SVGD step over all particles, as one would write them down: distances, and the update. Any
// precision; the float kernels in fused/svgd_pass.h are held to these by tests/inference/fused/svgd_pass_test.cpp.
#pragma once

#include <stein/inference/samplers/optimizer.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <span>

namespace stein::inference::reference {

/// Squared distances ‖x_i − x_j‖² of all rows, [M·M].
template <class Scalar>
void squared_distances(MatrixView<const Scalar> values, std::span<double> distances);

/// Inner products x_i · x_j of all rows, [M·M].
template <class Scalar>
void inner_products(MatrixView<const Scalar> values, std::span<double> products);

/// Moves every particle along the Stein direction that `weights` describes, through the optimizer.
/// @returns whether all values are finite after it
template <class Scalar>
bool stein_update(MatrixView<Scalar> values, MatrixView<const Scalar> gradients, const KernelWeights& weights,
                  OptimizerState<Scalar>& state, const OptimizerStep& step);

/// Moves every row along its own direction, through the optimizer.
/// @returns whether all values are finite after it
template <class Scalar>
bool ascend(MatrixView<Scalar> values, MatrixView<const Scalar> directions, OptimizerState<Scalar>& state,
            const OptimizerStep& step);

}  // namespace stein::inference::reference
