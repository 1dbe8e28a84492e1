#include "emulated_gpu/block_runner.h"

namespace stein::test {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

dim3 place_in(dim3 shape, std::size_t index) {
  const auto i = static_cast<unsigned>(index);
  return {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
}

}  // namespace

void BlockRunner::run(const KernelShape& shape, const std::function<void()>& thread) {
  thread_ = &thread;
  direct_ = met_barrier_ = false;
  const std::size_t threads = std::size_t{shape.threads.x} * shape.threads.y * shape.threads.z,
                    blocks = std::size_t{shape.blocks.x} * shape.blocks.y * shape.blocks.z;
  const std::size_t bytes = (shape.shared_bytes + 15) / 16 * 16;
  GuardedMemory memory(bytes + 1);
  shared_ = reinterpret_cast<float*>(memory.end() - bytes);
  backwards_ = !backwards_;
  for (std::size_t b = 0; b < blocks; ++b) {
    place_.block = place_in(shape.blocks, turn(b, blocks));
    memory.forget();
    run_block(threads, shape.threads);
    direct_ = !met_barrier_;
  }
  thread_ = nullptr, shared_ = nullptr;
}

void BlockRunner::run_block(std::size_t threads, dim3 shape) {
  if (!direct_) return run_with_stacks(threads, shape);
  for (std::size_t t = 0; t < threads; ++t) {
    place_.thread = place_in(shape, turn(t, threads));
    (*thread_)();
  }
}

void BlockRunner::run_with_stacks(std::size_t threads, dim3 shape) {
  if (fibers_.size() < threads) fibers_.resize(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    Fiber& fiber = fibers_[t];
    if (fiber.stack == nullptr) fiber.stack = std::make_unique<GuardedMemory>(stack_bytes);
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack->data();
    fiber.context.uc_stack.ss_size = fiber.stack->size();
    fiber.context.uc_link = &host_;
    fiber.left = false;
    ::makecontext(&fiber.context, enter, 0);
  }
  for (bool running = true; running;) {  // from one barrier to the next
    std::size_t left = 0;
    for (std::size_t t = 0; t < threads; ++t) {
      current_ = turn(t, threads);
      place_.thread = place_in(shape, current_);
      ::swapcontext(&host_, &fibers_[current_].context);
      left += fibers_[current_].left ? 1 : 0;
    }
    if (left != 0 && left != threads) stop("some threads of a block wait at a barrier that others never come to");
    running = left == 0;
    voted_ = vote_, vote_ = false;
  }
}

void BlockRunner::enter() {
  BlockRunner& runner = block_runner();
  (*runner.thread_)();
  runner.fibers_[runner.current_].left = true;
}

bool BlockRunner::barrier(bool vote) {
  if (direct_) stop("a barrier that no thread of the first block came to");
  met_barrier_ = true;
  vote_ = vote_ || vote;
  ::swapcontext(&fibers_[current_].context, &host_);
  return voted_;
}

BlockRunner& block_runner() {
  static thread_local BlockRunner runner;
  return runner;
}

const ThreadPlace& place_of_thread() {
  return block_runner().place();
}

float* shared_memory() {
  return block_runner().shared_memory();
}

bool barrier(bool vote) {
  return block_runner().barrier(vote);
}

}  // namespace stein::test
