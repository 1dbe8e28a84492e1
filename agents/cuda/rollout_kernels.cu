#include <stein/agents/cuda/rollout_body.h>
#include <stein/agents/cuda/rollout_kernels.h>
#include <stein/core/error.h>
#include <stein/envs/analytic_tasks.h>
#include <stein/envs/cuda/step_slots_body.h>
#include <stein/inference/cuda/block_threads.h>

namespace stein::agents::cuda {
namespace {

using envs::cuda::SlotRules;
using inference::cuda::start, inference::cuda::start_sharing;

constexpr unsigned slot_threads = 256;  // of a block of the kernels without networks

__device__ void keep_first(std::uint64_t* failure, std::int64_t step, std::int64_t slot, std::int64_t slots) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  atomicMin(reinterpret_cast<unsigned long long*>(failure), static_cast<unsigned long long>(step * slots + slot));
}

template <class Task>
__global__ void __launch_bounds__(slot_threads) begin_each(const envs::cuda::BeginSlots<Task> body) {
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * slot_threads + threadIdx.x;
  if (slot < body.memory.slots) body(slot);
}

template <class Task>
__global__ void __launch_bounds__(slot_threads)
    step_each(const envs::cuda::StepSlots<Task> body, std::uint64_t* failure) {
  const std::int64_t slot = static_cast<std::int64_t>(blockIdx.x) * slot_threads + threadIdx.x;
  if (slot >= body.memory.slots) return;
  const std::int64_t made = body(slot);
  if (made < body.steps) keep_first(failure, made, slot, body.memory.slots);
}

/// The threads of a block, as `play` asks for them. Its functions are for the device alone, but `play` is for both.
template <class Task>
class BlockThreads {
 public:
  STEIN_HOST_DEVICE BlockThreads(std::uint64_t* failure, std::int64_t slots) : failure_(failure), slots_(slots) {}

  STEIN_HOST_DEVICE int count() const { return rollout_threads; }
  template <class Phase>
  STEIN_HOST_DEVICE void each(const Phase& phase) {
#if STEIN_IN_KERNEL
    phase(static_cast<int>(threadIdx.x), own_);
    __syncthreads();
#endif
  }
  template <class Phase>
  STEIN_HOST_DEVICE bool any(const Phase& phase) {
#if STEIN_IN_KERNEL
    return __syncthreads_or(phase(static_cast<int>(threadIdx.x), own_) ? 1 : 0) != 0;
#else
    return false;
#endif
  }
  STEIN_HOST_DEVICE void fail(std::int64_t step, std::int64_t slot) const {
#if STEIN_IN_KERNEL
    keep_first(failure_, step, slot, slots_);
#endif
  }

 private:
  struct Registers {
    SlotThread<Task> slot;
    StepFlags flags{};
  };
  Registers own_;
  std::uint64_t* failure_;
  std::int64_t slots_;
};

template <class Task>
__global__ void __launch_bounds__(rollout_threads, 3)
    play_each(const __grid_constant__ Task task, const __grid_constant__ SlotRules<Task> rules,
              const __grid_constant__ envs::SlotMemory memory, const __grid_constant__ RolloutPlan plan,
              std::uint64_t* failure) {
  const RolloutBlock<Task> block(task, rules, memory, plan, blockIdx.x, inference::cuda::shared_numbers());
  BlockThreads<Task> threads(failure, memory.slots);
  play(block, threads);
}

unsigned blocks_of(std::int64_t slots) {
  return static_cast<unsigned>((slots + slot_threads - 1) / slot_threads);
}

/// Calls visit(task) with the task by its type.
template <class Visit>
void with_known(const envs::AnalyticTask& task, const Visit& visit) {
  STEIN_CHECK(envs::with_task(task.dynamics, visit), "rollouts on a GPU: expected a task that has kernels");
}

}  // namespace

void begin_slots(const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
                 float* observations, GpuStream stream) {
  with_known(task, [&]<class Task>(const Task& one) {
    start(begin_each<Task>, blocks_of(memory.slots), slot_threads, stream,
          envs::cuda::BeginSlots<Task>{one, key, memory, observations});
  });
}

void step_slots(const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
                std::int64_t steps, const float* actions, const envs::SlotRecord& record, std::uint64_t* failure,
                GpuStream stream) {
  with_known(task, [&]<class Task>(const Task& one) {
    const envs::cuda::StepSlots<Task> body{one,   SlotRules<Task>(one, task.options), key, memory, steps, actions,
                                           record};
    start(step_each<Task>, blocks_of(memory.slots), slot_threads, stream, body, failure);
  });
}

std::size_t play_blocks(const envs::AnalyticTask& task, const envs::SlotMemory& memory, const RolloutPlan& plan,
                        std::uint64_t* failure, GpuStream stream) {
  std::size_t bytes = 0;
  with_known(task, [&]<class Task>(const Task& one) {
    bytes = static_cast<std::size_t>(SharedPlaces(plan, Task::observation_size).size) * sizeof(float);
    start_sharing(bytes, play_each<Task>, static_cast<unsigned>(plan.shards()), rollout_threads, stream, one,
                  SlotRules<Task>(one, task.options), memory, plan, failure);
  });
  return bytes;
}

}  // namespace stein::agents::cuda
