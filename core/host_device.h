// Marks a function that a CUDA kernel and a host loop both call.
#pragma once

#if defined(__CUDACC__)
#define STEIN_HOST_DEVICE __host__ __device__
#else
#define STEIN_HOST_DEVICE
#endif
