// The threads of a block, one after the other on one thread of the host, each with a stack of its own.
#pragma once

#include <ucontext.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "emulated_gpu/gpu.h"
#include "emulated_gpu/guarded_memory.h"

namespace stein::test {

/// Runs kernels, every second one with its blocks and threads from the last to the first. A kernel of whose first block
/// no thread comes to a barrier needs no stacks for the others.
class BlockRunner {
 public:
  void run(const KernelShape& shape, const std::function<void()>& thread);

  const ThreadPlace& place() const { return place_; }
  float* shared_memory() const { return shared_; }
  bool barrier(bool vote);

 private:
  struct Fiber {
    ucontext_t context{};
    std::unique_ptr<GuardedMemory> stack{};
    bool left = false;
  };
  void run_block(std::size_t threads, dim3 shape);
  void run_with_stacks(std::size_t threads, dim3 shape);
  static void enter();
  std::size_t turn(std::size_t index, std::size_t count) const { return backwards_ ? count - 1 - index : index; }

  const std::function<void()>* thread_ = nullptr;
  ThreadPlace place_{};
  float* shared_ = nullptr;
  std::vector<Fiber> fibers_;
  ucontext_t host_{};
  std::size_t current_ = 0;
  bool backwards_ = false;
  bool direct_ = false;       ///< threads run on the host's own stack
  bool met_barrier_ = false;  ///< a thread of this kernel
  bool vote_ = false, voted_ = false;
};

/// That of this thread of the host.
BlockRunner& block_runner();

}  // namespace stein::test
