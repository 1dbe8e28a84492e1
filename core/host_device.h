// Marks a function that a CUDA kernel and a host loop both call.
#pragma once

#if defined(__CUDACC__)
#define STEIN_HOST_DEVICE __host__ __device__
#else
#define STEIN_HOST_DEVICE
#endif

// Inlines a function whatever its size: arithmetic written once and instantiated with SIMD vectors, which must not
// cross a call.
#define STEIN_ALWAYS_INLINE inline __attribute__((always_inline))
