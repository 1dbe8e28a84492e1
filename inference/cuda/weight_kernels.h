// The kernels of loops over weights (weight_driver.cpp). Pointers are to memory of the current device; every function
// returns before its kernel has run, and throws nothing: cudaGetLastError says whether it could be started.
#pragma once

#include <stein/inference/cuda/mean_field_body.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/cuda/variational_matrix_body.h>
#include <stein/inference/cuda/weight_body.h>

namespace stein::inference::cuda {

/// A body for each of `count` numbers; there are those of weight_body.h and of variational_matrix_body.h.
template <class Body>
void for_each_number(std::int64_t count, const Body& body, GpuStream stream);
/// A body for each group of a sheet of normals: DrawWeights, PullBackWeights, SharpenWeights, DrawMatrix,
/// AddNoise.
template <class Body>
void for_each_noise_group(const NoiseGroups& noise, const Body& body, GpuStream stream);
/// The lanes of `count` terms, [blocks, 16], in double.
template <class Term>
void add_up_terms(std::int64_t count, const Term& term, double* sums, GpuStream stream);

}  // namespace stein::inference::cuda
