// The kernels around the bodies of stein::cuda, on the host: loops over blocks, phases and threads.
#pragma once

#include <stein/inference/cuda/block_phases.h>
#include <stein/inference/cuda/group_grid.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace stein::test {

/// The kernel around a body of one number: blocks of 256 threads, the last block first, since no order is promised.
template <class Body>
void for_each_index(std::int64_t count, const Body& body) {
  constexpr std::int64_t threads = inference::cuda::block_threads;
  for (std::int64_t block = (count + threads - 1) / threads - 1; block >= 0; --block)
    for (std::int64_t index = block * threads; index < std::min(count, (block + 1) * threads); ++index) body(index);
}

/// In which order the threads of a block do a phase. A body whose threads meet in one phase gives other numbers in
/// another order.
enum class ThreadOrder { up, down };

/// The kernel around a body in phases: the last block first. What a block shares begins with bits that are no number
/// (as float and as double), so that what is read and was not written shows.
template <inference::cuda::PhasedBody Body>
void for_each_phase(const Body& body, ThreadOrder order) {
  constexpr auto threads = static_cast<int>(inference::cuda::block_threads);
  const auto shared = std::make_unique<typename Body::Shared>();
  for (std::int64_t block = body.blocks() - 1; block >= 0; --block) {
    std::memset(shared.get(), 0xff, sizeof(typename Body::Shared));
    std::vector<typename Body::Own> own(threads);
    for (std::int64_t phase = 0; phase < body.phases(); ++phase) {
      for (int k = 0; k < threads; ++k) {
        const int thread = order == ThreadOrder::up ? k : threads - 1 - k;
        body(phase, block, thread, *shared, own[static_cast<std::size_t>(thread)]);
      }
    }
  }
}

}  // namespace stein::test
