// Copies to a GPU that nobody waits for.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

#include <cstddef>

namespace stein::inference::cuda {

/// Copies numbers of the host to the current GPU behind everything that its stream has been given; they may change as
/// soon as it returns. They go through page-locked memory of this thread, of which there are several parts, so that one
/// copy does not wait for the one before. Throws Error(io) where CUDA refuses.
void upload(void* to, const void* host, std::size_t bytes, GpuStream stream);

}  // namespace stein::inference::cuda
