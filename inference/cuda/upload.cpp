#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/upload.h>

#include <array>
#include <cstring>
#include <map>

namespace stein::inference::cuda {
namespace {

/// Page-locked memory for one copy at a time, and what says that the copy is over.
class PageLockedPart {
 public:
  PageLockedPart() = default;
  PageLockedPart(const PageLockedPart&) = delete;
  PageLockedPart& operator=(const PageLockedPart&) = delete;
  /// At the end of the program CUDA may be gone before: nothing is left to do then.
  ~PageLockedPart() {
    if (over_ != nullptr) static_cast<void>(cudaEventDestroy(over_));
    static_cast<void>(cudaFreeHost(memory_));
  }

  void copy(void* to, const void* host, std::size_t bytes, GpuStream stream) {
    if (over_ == nullptr)
      check(cudaEventCreateWithFlags(&over_, cudaEventDisableTiming), "use a GPU");
    else
      check(cudaEventSynchronize(over_), "copy to the GPU");  // the last copy from here
    reserve(bytes);
    std::memcpy(memory_, host, bytes);
    check(cudaMemcpyAsync(to, memory_, bytes, cudaMemcpyHostToDevice, stream), "copy to the GPU");
    check(cudaEventRecord(over_, stream), "copy to the GPU");
  }

 private:
  void reserve(std::size_t bytes) {
    if (bytes <= bytes_) return;
    static_cast<void>(cudaFreeHost(memory_));
    memory_ = nullptr, bytes_ = 0;
    check(cudaHostAlloc(&memory_, bytes, cudaHostAllocPortable), "get page-locked memory of the host");
    bytes_ = bytes;
  }

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  cudaEvent_t over_ = nullptr;  ///< of the GPU that it was made for
};

/// Several for every GPU that a thread copies to, taken in turn.
struct PageLockedParts {
  std::array<PageLockedPart, 4> parts;
  std::size_t next = 0;
};

}  // namespace

void upload(void* to, const void* host, std::size_t bytes, GpuStream stream) {
  if (bytes == 0) return;
  static thread_local std::map<int, PageLockedParts> of_gpus;
  int gpu = 0;
  check(cudaGetDevice(&gpu), "use a GPU");
  PageLockedParts& own = of_gpus[gpu];
  own.parts[own.next].copy(to, host, bytes, stream);
  own.next = (own.next + 1) % own.parts.size();
}

}  // namespace stein::inference::cuda
