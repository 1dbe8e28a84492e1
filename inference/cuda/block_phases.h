// Kernels whose threads work together in blocks: what a thread does is cut into phases, and between two phases all
// threads of a block wait for one another. A phase is a function of block and thread, so the tests run it on the host
// by loops over blocks, phases and threads.
#pragma once

#include <stein/core/host_device.h>

#include <concepts>
#include <cstdint>

namespace stein::inference::cuda {

/// body.blocks() blocks of `block_threads` threads; thread t of block b does body(0, b, t, …), …,
/// body(body.phases() − 1, b, t, …). A phase may read what any thread of its block wrote in earlier phases, to `Shared`
/// or to memory of the device, and writes what no other thread reads or writes in the same phase.
///
/// Body::Shared  of a block, at most 48 KiB; begins with numbers of no meaning
/// Body::Own     of a thread: what it keeps from phase to phase; begins as `Own{}`
template <class Body>
concept PhasedBody = requires(const Body& body, std::int64_t block, int thread, typename Body::Shared& shared,
                              typename Body::Own& own) {
  { body.blocks() } -> std::convertible_to<std::int64_t>;
  { body.phases() } -> std::convertible_to<std::int64_t>;
  body(std::int64_t{0}, block, thread, shared, own);
  requires sizeof(typename Body::Shared) <= 48 * 1024;
};

}  // namespace stein::inference::cuda
