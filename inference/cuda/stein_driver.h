// SVGD on a GPU, the part of the driver of samplers that it has alone.
#pragma once

#include <stein/inference/samplers/driver.h>

#include <cstdint>
#include <span>

namespace stein::inference::cuda {

/// The GPU of rows. Throws Error(usage) where they do not begin as those of a Matrix may.
std::int32_t device_of_rows(const MatrixView<const float>& rows);

/// Driver::squared_distances, inner_products, stein_update and stein_move. Each throws Error(usage) for more particles
/// than its kernels go over together.
void squared_distances_of(MatrixView<const float> rows, std::span<double> distances);
void inner_products_of(MatrixView<const float> rows, std::span<double> products);
bool stein_update_rows(MatrixView<float> values, MatrixView<const float> gradients, const KernelWeights& weights,
                       OptimizerState<float>& state, const OptimizerStep& step, MoveWatch* watch);
bool stein_move_rows(const SteinMove<float>& move);

}  // namespace stein::inference::cuda
