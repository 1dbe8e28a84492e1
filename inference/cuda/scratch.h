// Where the drivers of a GPU put their kernels, and memory of the GPU for the time of one function.
#pragma once

#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/cuda/upload.h>

#include <cstddef>
#include <span>
#include <vector>

namespace stein::inference::cuda {

/// The stream 0 of the current GPU, where LibTorch works too unless it is told otherwise.
inline constexpr GpuStream first_stream = nullptr;

/// Some numbers on the current GPU, for the time of one function.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {
    if (size != 0) check_memory(cudaMallocAsync(&memory_, size * sizeof(T), first_stream), size * sizeof(T));
  }
  explicit Scratch(std::span<const T> numbers) : Scratch(numbers.size()) {
    upload(memory_, numbers.data(), numbers.size_bytes(), first_stream);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, first_stream));
  }

  T* data() const { return static_cast<T*>(memory_); }
  /// The numbers, once all kernels have run.
  std::vector<T> on_host() const {
    std::vector<T> numbers(size_);
    check(cudaGetLastError(), "start a kernel");
    if (size_ != 0)
      check(cudaMemcpy(numbers.data(), memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "run a kernel");
    return numbers;
  }

 private:
  std::size_t size_;
  void* memory_ = nullptr;
};

}  // namespace stein::inference::cuda
