// A GPU of the tests, on the host, so that the sources which speak to a GPU run on any machine as they are: it answers
// the calls of the CUDA runtime that Stein makes (emulated_gpu/runtime.cpp), and is as late as a GPU may be.
//
// What is put into the stream waits there until the host waits for it: kernels, copies and memory that is given back.
// So a copy reads what is in the memory of the host by then, and memory of the host that is freed before is not there
// any more. Memory of a GPU can be touched by nothing but what runs on that GPU: everything else ends with SIGSEGV, as
// does a kernel that goes beyond an array by a page, or comes after it was given back. It begins as numbers that are
// none. Threads take turns from one barrier to the next, in every second kernel backwards: what depends on their order
// comes out otherwise there.
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>
#include <functional>

namespace stein::test {

/// Where the thread of a kernel stands that runs now.
struct ThreadPlace {
  dim3 thread{}, block{};
};
const ThreadPlace& place_of_thread();

/// The blocks of a kernel, the threads of each, and the bytes that these share.
struct KernelShape {
  dim3 blocks, threads;
  std::size_t shared_bytes = 0;
};
/// Puts a kernel into the stream of the current GPU; `thread` is what each thread does. A shape that no GPU takes is
/// what cudaGetLastError says then.
void start_kernel(const KernelShape& shape, std::function<void()> thread);

/// Puts other work into the stream of the current GPU.
void start_work(std::function<void()> work);

/// Of the block that runs now, at the end of a page.
float* shared_memory();

/// Returns once all threads of the block are here, whether any of them voted for it. The program ends where one has
/// left the kernel before.
bool barrier(bool vote);

}  // namespace stein::test
