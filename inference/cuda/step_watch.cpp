#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/scratch.h>
#include <stein/inference/cuda/step_watch.h>

namespace stein::inference::cuda {
namespace {

/// The words of one step in memory of the GPU.
struct DeviceWords {
  FoundNumber first = nothing_found;
  int gradient = 0, lost = 0;
};

}  // namespace

StepWatch::StepWatch(Device device) : gpu_(device.index) {
  const CurrentDevice current(gpu_);
  check_memory(cudaMalloc(&device_words_, 2 * sizeof(DeviceWords)), 2 * sizeof(DeviceWords));
  check(cudaHostAlloc(&host_words_, 2 * sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped),
        "get memory of the host that a GPU can write");
  auto* const there = static_cast<DeviceWords*>(device_words_);
  auto* const here = static_cast<int*>(host_words_);
  for (std::size_t k = 0; k < 2; ++k) {
    steps_[k].words = {.gradient = &there[k].gradient,
                       .seen = here + k,
                       .lost = &there[k].lost,
                       .before = &there[1 - k].lost,
                       .first = &there[k].first};
    check(cudaEventCreateWithFlags(&steps_[k].over, cudaEventDisableTiming), "use a GPU");
  }
  clear();
}

/// At the end of the program CUDA may be gone before: nothing is left to do then. Kernels may still write to the words:
/// the memory of a GPU is given back once they have run.
StepWatch::~StepWatch() {
  for (const Step& step : steps_)
    if (step.over != nullptr) static_cast<void>(cudaEventDestroy(step.over));
  static_cast<void>(cudaFree(device_words_));
  static_cast<void>(cudaFreeHost(host_words_));
}

void StepWatch::begin() {
  looked_ = false;
  if (std::exchange(open_, true)) {  // a step that did not come to its end: nobody asks what it met
    const CurrentDevice current(gpu_);
    if (ahead_ && wait(steps_[1 - now_])) return;  // what is asked for now moves nothing, and its end tells
    clear();
    open_ = true;
  }
}

std::optional<NotFiniteNumber> StepWatch::end() {
  const CurrentDevice current(gpu_);
  check(cudaGetLastError(), "start a kernel");
  check(cudaEventRecord(steps_[now_].over, first_stream), "use a GPU");
  open_ = false;
  if (ahead_) {
    if (const auto met = wait(steps_[1 - now_])) {
      clear();
      return met;
    }
  }
  ahead_ = true;
  now_ = 1 - now_;
  return {};
}

std::optional<NotFiniteNumber> StepWatch::settle() {
  if (!std::exchange(ahead_, false)) return {};
  const CurrentDevice current(gpu_);
  const auto met = wait(steps_[1 - now_]);
  if (met) clear();
  return met;
}

std::optional<NotFiniteNumber> StepWatch::wait(const Step& step) const {
  check(cudaEventSynchronize(step.over), "run a kernel");
  if (*static_cast<const volatile int*>(step.words.seen) == 0) return {};
  FoundNumber found = nothing_found;
  check(cudaMemcpy(&found, step.words.first, sizeof found, cudaMemcpyDeviceToHost), "copy memory of the GPU");
  return number_of(found);
}

void StepWatch::clear() {
  check(cudaStreamSynchronize(first_stream), "run a kernel");
  const DeviceWords clean[2];
  check(cudaMemcpy(device_words_, clean, sizeof clean, cudaMemcpyHostToDevice), "clear memory of the GPU");
  for (const Step& step : steps_) *step.words.seen = 0;
  open_ = ahead_ = false;
}

}  // namespace stein::inference::cuda
