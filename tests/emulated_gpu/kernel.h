// What kernels ask of CUDA, on the host: the sources that nvcc compiles are compiled here by the compiler of the host,
// and run on the GPU of the tests (emulated_gpu/gpu.h), thread by thread, with barriers.
#pragma once

#include <stein/inference/cuda/sampler_kernels.h>

#include <cuda_runtime_api.h>
#include <cstddef>
#include <functional>
#include <tuple>

#include "emulated_gpu/gpu.h"

// Words of nvcc. What they say of functions and memory does not matter here.
#undef __global__
#undef __device__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __grid_constant__
#define threadIdx (::stein::test::place_of_thread().thread)
#define blockIdx (::stein::test::place_of_thread().block)

#define STEIN_IN_KERNEL 1

// NOLINTBEGIN(*-reserved-identifier): their names in CUDA
inline void __syncthreads() {
  stein::test::barrier(false);
}
inline int __syncthreads_or(int vote) {
  return stein::test::barrier(vote != 0) ? 1 : 0;
}
// NOLINTEND(*-reserved-identifier)
/// Kernels run one thread at a time.
inline unsigned long long atomicMin(unsigned long long* at, unsigned long long number) {
  const unsigned long long before = *at;
  if (number < before) *at = number;
  return before;
}

namespace stein::inference::cuda {

template <class... Parameters, class... Arguments>
void start_sharing(std::size_t bytes, void (*kernel)(Parameters...), dim3 blocks, dim3 threads, GpuStream,
                   const Arguments&... arguments) {
  test::start_kernel(
      {.blocks = blocks, .threads = threads, .shared_bytes = bytes},
      [kernel, all = std::tuple<std::decay_t<Parameters>...>(arguments...)] { std::apply(kernel, all); });
}

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, GpuStream stream, const Arguments&... arguments) {
  start_sharing(0, kernel, blocks, threads, stream, arguments...);
}

inline float* shared_numbers() {
  return test::shared_memory();
}

template <class T>
T& block_memory() {
  static thread_local T memory;  // blocks run one after the other
  return memory;
}

}  // namespace stein::inference::cuda
