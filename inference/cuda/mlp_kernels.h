// The kernels of perceptrons and of structured weights. All pointers are to memory of the current device; a function
// returns before its kernel has run, and throws nothing: cudaGetLastError says whether it could be started.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/models/mlp_launch.h>
#include <stein/inference/parameterizations/structure_launch.h>

namespace stein::inference::cuda {

/// Takes all networks through all rows: predictions, or sums and gradients, those of each share by itself where there
/// are several.
void pass_networks(const MlpLaunch& launch, GpuStream stream);
/// Makes structured weights, or pulls their slopes back, a block a matrix.
void pass_structure(const StructureLaunch& launch, GpuStream stream);
/// Adds up the gradients of the shares.
void add_shares(const MlpLaunch& launch, GpuStream stream);
/// A body for each of `count` numbers, rows or networks; there are those of layer_bodies.h and of
/// structure_product_bodies.h.
template <class Body>
void for_each_unit(std::int64_t count, const Body& body, GpuStream stream);

}  // namespace stein::inference::cuda
