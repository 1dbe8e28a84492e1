// Rollouts on a GPU, registered as "cuda". Everything is put in the stream 0 of the GPU, as the memory of GPUs is.
#include <stein/agents/control/rollout_driver.h>
#include <stein/agents/cuda/rollout_kernels.h>
#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/storage/device_memory.h>

namespace stein::agents::cuda {
namespace {

using inference::cuda::check, inference::cuda::CurrentDevice;

/// A number of the device that kernels leave their first failure in.
class FailureNumber {
 public:
  FailureNumber() {
    void* memory = nullptr;
    inference::cuda::check_memory(cudaMallocAsync(&memory, sizeof no_failure, nullptr), sizeof no_failure);
    number_ = static_cast<std::uint64_t*>(memory);
    const cudaError_t copied = cudaMemcpy(number_, &no_failure, sizeof no_failure, cudaMemcpyHostToDevice);
    if (copied != cudaSuccess) static_cast<void>(cudaFreeAsync(number_, nullptr));
    check(copied, "copy memory of the GPU");
  }
  FailureNumber(const FailureNumber&) = delete;
  FailureNumber& operator=(const FailureNumber&) = delete;
  ~FailureNumber() { static_cast<void>(cudaFreeAsync(number_, nullptr)); }

  std::uint64_t* data() const { return number_; }
  /// The answer, once all kernels have run. @param slots  of the launch
  std::optional<envs::StepFailure> first(std::int64_t slots) const {
    check(cudaGetLastError(), "start a kernel of rollouts");
    std::uint64_t found = no_failure;
    check(cudaMemcpy(&found, number_, sizeof found, cudaMemcpyDeviceToHost), "run a kernel of rollouts");
    if (found == no_failure) return std::nullopt;
    const auto place = static_cast<std::int64_t>(found);
    return envs::StepFailure{.step = place / slots, .slot = place % slots};
  }

 private:
  std::uint64_t* number_ = nullptr;
};

void begin(std::int32_t index, const envs::AnalyticTask& task, const envs::SlotKey& key, const envs::SlotMemory& memory,
           float* observations) {
  const CurrentDevice device(index);
  begin_slots(task, key, memory, observations, nullptr);
  check(cudaGetLastError(), "start a kernel of rollouts");
  check(cudaStreamSynchronize(nullptr), "run a kernel of rollouts");
}

std::optional<envs::StepFailure> step(std::int32_t index, const envs::AnalyticTask& task, const envs::SlotKey& key,
                                      const envs::SlotMemory& memory, std::int64_t steps, const float* actions,
                                      const envs::SlotRecord& record) {
  const CurrentDevice device(index);
  const FailureNumber failure;
  step_slots(task, key, memory, steps, actions, record, failure.data(), nullptr);
  return failure.first(memory.slots);
}

std::optional<envs::StepFailure> collect(std::int32_t index, const envs::AnalyticTask& task,
                                         const envs::SlotMemory& memory, const RolloutPlan& plan) {
  const CurrentDevice device(index);
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, index), "use a GPU");
  const FailureNumber failure;
  const std::size_t bytes = play_blocks(task, memory, plan, failure.data(), nullptr);
  if (bytes > static_cast<std::size_t>(most)) {
    static_cast<void>(cudaGetLastError());  // that the kernel could not be started
    fail(ErrorKind::usage,
         "rollouts on a GPU: expected networks that fit {} bytes of shared memory beside their layers for 64 slots, "
         "got {} bytes",
         most, bytes);
  }
  return failure.first(memory.slots);
}

const RolloutDriver driver{.name = "cuda", .begin = begin, .step = step, .collect = collect};
const bool registered = rollout_drivers().add("cuda", &driver);

}  // namespace
}  // namespace stein::agents::cuda
