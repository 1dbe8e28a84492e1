// What kernels ask of CUDA: to be started, memory that a block shares, and where a thread stands. Included by sources
// that nvcc compiles; tests compile the same sources for the host, with a GPU of their own (tests/emulated_gpu).
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

#include <cstddef>

#if defined(STEIN_EMULATED_GPU)
#include "emulated_gpu/kernel.h"
#else

namespace stein::inference::cuda {

/// Whether this is compiled for a thread of a kernel, which alone has barriers and a place in its block.
#if defined(__CUDA_ARCH__)
#define STEIN_IN_KERNEL 1
#else
#define STEIN_IN_KERNEL 0
#endif

// clang-format parts >>>.
// clang-format off
/// Puts a kernel in its place of a stream. cudaGetLastError says whether it could be started.
template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, GpuStream stream, const Arguments&... arguments) {
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
}

/// The same of one whose blocks share so many bytes, which `shared_numbers` gives.
template <class... Parameters, class... Arguments>
void start_sharing(std::size_t bytes, void (*kernel)(Parameters...), dim3 blocks, dim3 threads, GpuStream stream,
                   const Arguments&... arguments) {
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (allowed != cudaSuccess) return;  // cudaGetLastError says so
  kernel<<<blocks, threads, bytes, stream>>>(arguments...);
}
// clang-format on

/// The memory that the threads of a block share, as `start_sharing` was told.
__device__ inline float* shared_numbers() {
  extern __shared__ FourNumbers shared[];
  return shared->number;
}

/// A T that the threads of a block share; one of each type in a kernel.
template <class T>
__device__ T& block_memory() {
  __shared__ T memory;
  return memory;
}

}  // namespace stein::inference::cuda

#endif
