// Memory of the host that a GPU copies from or to while the host goes on.
#pragma once

#include <stein/inference/cuda/call.h>

#include <cstddef>
#include <string_view>

namespace stein::inference::cuda {

/// Page-locked memory for one copy at a time, and what says that the copy is over. Used with one GPU, the current one.
class PageLockedMemory {
 public:
  PageLockedMemory() = default;
  PageLockedMemory(const PageLockedMemory&) = delete;
  PageLockedMemory& operator=(const PageLockedMemory&) = delete;
  /// Waits for the copy. At the end of the program CUDA may be gone before: nothing is left to do then.
  ~PageLockedMemory() {
    if (over_ != nullptr) static_cast<void>(cudaEventSynchronize(over_)), static_cast<void>(cudaEventDestroy(over_));
    static_cast<void>(cudaFreeHost(memory_));
  }

  /// At least so many bytes, what they held is lost; while no copy is under way. Throws Error(io) where there are none.
  void* reserve(std::size_t bytes) {
    if (bytes <= bytes_) return memory_;
    static_cast<void>(cudaFreeHost(memory_));
    memory_ = nullptr, bytes_ = 0;
    check(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable), "get page-locked memory of the host");
    bytes_ = bytes;
    return memory_;
  }
  const void* data() const { return memory_; }
  /// A copy, `what`, was put into the stream just before. Throws Error(io) where CUDA refuses.
  void record(cudaStream_t stream, std::string_view what) {
    if (over_ == nullptr) check(cudaEventCreateWithFlags(&over_, cudaEventDisableTiming), "use a GPU");
    check(cudaEventRecord(over_, stream), what);
  }
  /// Whether the last copy is over, or there was none.
  bool is_over() const {
    if (over_ == nullptr) return true;
    const cudaError_t state = cudaEventQuery(over_);
    if (state == cudaErrorNotReady) static_cast<void>(cudaGetLastError());  // where it is kept as the last error
    return state == cudaSuccess;
  }
  /// Returns when it is. Throws Error(io) where something before it could not be done.
  void wait(std::string_view what) const {
    if (over_ != nullptr) check(cudaEventSynchronize(over_), what);
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  cudaEvent_t over_ = nullptr;
};

}  // namespace stein::inference::cuda
