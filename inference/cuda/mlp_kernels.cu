#include <stein/inference/cuda/launch.h>
#include <stein/inference/cuda/layer_bodies.h>
#include <stein/inference/cuda/mlp_kernels.h>
#include <stein/inference/cuda/mlp_phases.h>
#include <stein/inference/cuda/structure_body.h>
#include <stein/inference/cuda/structure_product_bodies.h>

namespace stein::inference::cuda {
namespace {

/// The threads of a block, as `pass_share` asks for them. Its functions are for the device alone, but `pass_share` is
/// for both.
struct BlockThreads {
  template <class Phase>
  STEIN_HOST_DEVICE void each(const Phase& phase) {
#if STEIN_IN_KERNEL
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
#endif
  }
};

template <bool whole>
__global__ void __launch_bounds__(mlp_threads) pass_each(const __grid_constant__ MlpLaunch launch) {
  const MlpBlock<whole> block(launch, blockIdx.x, shared_numbers());
  BlockThreads threads;
  pass_share(block, threads);
}

__global__ void __launch_bounds__(block_threads) add_each(const __grid_constant__ AddShares body) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (index < body.launch.networks * body.groups()) body(index);
}

template <bool backward>
__global__ void __launch_bounds__(structure_threads) structure_each(const __grid_constant__ StructureLaunch launch) {
  const StructureBlock block(launch, blockIdx.x, shared_numbers());
  BlockThreads threads;
  if constexpr (backward)
    pull_back_slopes(block, threads);
  else
    make_weights(block, threads);
}

template <bool backward>
void start_structure(const StructureLaunch& launch, GpuStream stream) {
  const auto bytes = static_cast<std::size_t>(launch.places.shared_floats(backward)) * sizeof(float);
  start_sharing(bytes, structure_each<backward>, static_cast<unsigned>(launch.blocks()), structure_threads, stream,
                launch);
}

template <bool whole>
void start_pass(const MlpLaunch& launch, GpuStream stream) {
  start_sharing(static_cast<std::size_t>(launch.tiling.size) * sizeof(float), pass_each<whole>,
                static_cast<unsigned>(launch.blocks()), mlp_threads, stream, launch);
}

}  // namespace

void pass_networks(const MlpLaunch& launch, GpuStream stream) {
  if (launch.tiling.whole)
    start_pass<true>(launch, stream);
  else
    start_pass<false>(launch, stream);
}

void pass_structure(const StructureLaunch& launch, GpuStream stream) {
  if (launch.gradient != nullptr)
    start_structure<true>(launch, stream);
  else
    start_structure<false>(launch, stream);
}

void add_shares(const MlpLaunch& launch, GpuStream stream) {
  const AddShares body{launch};
  const std::int64_t count = launch.networks * body.groups();
  start(add_each, static_cast<unsigned>((count + block_threads - 1) / block_threads), block_threads, stream, body);
}

template <class Body>
void for_each_unit(std::int64_t count, const Body& body, GpuStream stream) {
  launch(count, body, stream);
}

#define STEIN_UNITS(Body) template void for_each_unit(std::int64_t, const Body&, GpuStream);
STEIN_UNITS(SpreadOnes)
STEIN_UNITS(FinishUnit)
STEIN_UNITS(ScoreRow)
STEIN_UNITS(AddRowSums)
STEIN_UNITS(AddUpBias)
STEIN_UNITS(PullBackUnit)
STEIN_UNITS(FinishGradient)
STEIN_UNITS(ScaledCore)
STEIN_UNITS(InvertTriangle)
STEIN_UNITS(MirrorUpper)
STEIN_UNITS(TakeSlope)
STEIN_UNITS(CoreSlope)
STEIN_UNITS(ScaleSlope)
STEIN_UNITS(CopyPlain)
#undef STEIN_UNITS

}  // namespace stein::inference::cuda
