#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>

namespace stein::inference::cuda {

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  const bool no_gpu = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver;
  fail(no_gpu ? ErrorKind::usage : ErrorKind::io, "cannot {}: CUDA says '{}'", what, cudaGetErrorString(status));
}

CurrentDevice::CurrentDevice(std::int32_t index) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "use a GPU");
  STEIN_CHECK(index >= 0 && index < count, "expected a GPU from 0 to {}, got {}", count - 1, index);
  check(cudaGetDevice(&before_), "use a GPU");
  check(cudaSetDevice(index), "use a GPU");
}

CurrentDevice::~CurrentDevice() {
  static_cast<void>(cudaSetDevice(before_));  // it was the current one before
}

}  // namespace stein::inference::cuda
