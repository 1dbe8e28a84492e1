#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/finite_flag.h>

namespace stein::inference::cuda {
namespace {

/// One number of page-locked memory; its address is the same for the host and for every GPU.
class PageLockedNumber {
 public:
  PageLockedNumber() {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped),
          "get memory of the host that a GPU can write");
    number_ = static_cast<int*>(memory);
  }
  PageLockedNumber(const PageLockedNumber&) = delete;
  PageLockedNumber& operator=(const PageLockedNumber&) = delete;
  /// At the end of the program CUDA may be gone before: nothing is left to do then.
  ~PageLockedNumber() { static_cast<void>(cudaFreeHost(number_)); }

  int* address() const { return number_; }

 private:
  int* number_ = nullptr;
};

int* number_of_thread() {
  static thread_local const PageLockedNumber number;
  return number.address();
}

}  // namespace

FiniteFlag::FiniteFlag() : not_finite_(number_of_thread()) {
  *not_finite_ = 0;  // kernels started from here on see it
}

bool FiniteFlag::finite(GpuStream stream) const {
  check(cudaGetLastError(), "start a kernel");
  check(cudaStreamSynchronize(stream), "run a kernel");
  return *not_finite_ == 0;
}

}  // namespace stein::inference::cuda
