#include <stein/inference/cuda/group_grid.h>
#include <stein/inference/cuda/mlp_body.h>
#include <stein/inference/cuda/mlp_kernels.h>

namespace stein::inference::cuda {
namespace {

/// The threads of a block, as `pass_share` asks for them. Its functions are for the device alone, but `pass_share` is
/// for both.
struct BlockThreads {
  template <class Phase>
  STEIN_HOST_DEVICE void each(const Phase& phase) {
#ifdef __CUDA_ARCH__
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
#endif
  }
};

template <bool whole>
__global__ void __launch_bounds__(mlp_threads) pass_each(const __grid_constant__ MlpLaunch launch) {
  extern __shared__ FourNumbers shared[];
  const MlpBlock<whole> block(launch, blockIdx.x, shared->number);
  BlockThreads threads;
  pass_share(block, threads);
}

__global__ void __launch_bounds__(block_threads) add_each(const __grid_constant__ AddShares body) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (index < body.launch.networks * body.groups()) body(index);
}

template <bool whole>
void start(const MlpLaunch& launch, GpuStream stream) {
  const std::size_t bytes = static_cast<std::size_t>(launch.tiling.size) * sizeof(float);
  const cudaError_t allowed =
      cudaFuncSetAttribute(pass_each<whole>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (allowed != cudaSuccess) return;  // cudaGetLastError says so
  pass_each<whole><<<static_cast<unsigned>(launch.blocks()), mlp_threads, bytes, stream>>>(launch);
}

}  // namespace

void pass_networks(const MlpLaunch& launch, GpuStream stream) {
  if (launch.tiling.whole)
    start<true>(launch, stream);
  else
    start<false>(launch, stream);
}

void add_shares(const MlpLaunch& launch, GpuStream stream) {
  const AddShares body{launch};
  const std::int64_t count = launch.networks * body.groups();
  add_each<<<static_cast<unsigned>((count + block_threads - 1) / block_threads), block_threads, 0, stream>>>(body);
}

}  // namespace stein::inference::cuda
