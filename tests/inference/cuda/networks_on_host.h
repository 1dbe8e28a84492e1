// The kernels of perceptrons on the host: blocks one after the other, the last first, phases between barriers by loops
// over threads; shared memory is an array of the block, which begins with numbers that are none.
#pragma once

#include <stein/inference/cuda/mlp_phases.h>
#include <stein/inference/cuda/structure_body.h>
#include <stein/inference/models/mlp_driver.h>

#include <cstring>
#include <vector>

#include "inference/cuda/kernel_loops.h"
#include "inference/fenced_device.h"

namespace stein::test {

/// The threads of a block, as `pass_share` asks for them.
struct ThreadsOnHost {
  ThreadOrder order;

  template <class Phase>
  void each(const Phase& phase) {
    constexpr int threads = inference::cuda::mlp_threads;
    for (int k = 0; k < threads; ++k) phase(order == ThreadOrder::up ? k : threads - 1 - k);
  }
};

template <bool whole>
void pass_blocks(const inference::MlpLaunch& launch, ThreadOrder order) {
  using inference::cuda::FourNumbers;
  std::vector<FourNumbers> shared(static_cast<std::size_t>(launch.tiling.size / 4));
  for (std::int64_t index = launch.blocks() - 1; index >= 0; --index) {
    std::memset(shared.data(), 0xff, shared.size() * sizeof(FourNumbers));
    const inference::cuda::MlpBlock<whole> block(launch, index, shared.front().number);
    ThreadsOnHost threads{order};
    inference::cuda::pass_share(block, threads);
  }
}

/// Both kernels of a launch.
inline void pass_on_host(const inference::MlpLaunch& launch, ThreadOrder order = ThreadOrder::down) {
  if (launch.tiling.whole)
    pass_blocks<true>(launch, order);
  else
    pass_blocks<false>(launch, order);
  const inference::cuda::AddShares body{launch};
  if (launch.shares != nullptr) for_each_index(launch.networks * body.groups(), body);
}

/// The kernels of structured weights.
inline void structure_on_host(const inference::StructureLaunch& launch, ThreadOrder order = ThreadOrder::down) {
  const bool backward = launch.gradient != nullptr;
  std::vector<float> shared(static_cast<std::size_t>(launch.places.shared_floats(backward)));
  for (std::int64_t index = launch.blocks() - 1; index >= 0; --index) {
    std::memset(shared.data(), 0xff, shared.size() * sizeof(float));
    const inference::cuda::StructureBlock block(launch, index, shared.data());
    ThreadsOnHost threads{order};
    if (backward)
      inference::cuda::pull_back_slopes(block, threads);
    else
      inference::cuda::make_weights(block, threads);
  }
}

/// Bytes that a block of the fenced device shares: by default those of an H100.
inline std::int64_t& fenced_shared_bytes() {
  static std::int64_t bytes = 232'448;
  return bytes;
}

/// The fenced device; the first call registers its driver of perceptrons.
inline inference::Device fenced_networks() {
  static const inference::MlpDriver fenced{
      .name = "fenced",
      .shared_bytes = [](std::int32_t) { return fenced_shared_bytes(); },
      .upload =
          [](std::int32_t index, void* to, const void* host, std::size_t bytes) {
            inference::device_memory(inference::Device::Kind::fenced).copy_in(index, to, host, bytes);
          },
      .pass =
          [](std::int32_t, const inference::MlpLaunch& launch) {
            const OpenFence open;
            pass_on_host(launch);
          },
      .structure =
          [](std::int32_t, const inference::StructureLaunch& launch) {
            const OpenFence open;
            structure_on_host(launch);
          }};
  static const bool registered = inference::mlp_drivers().add("fenced", &fenced);
  static_cast<void>(registered);
  return fenced_device();
}

}  // namespace stein::test
