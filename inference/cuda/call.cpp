#include <stein/core/error.h>
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/driver_fault.h>
#include <stein/inference/storage/device_room.h>

namespace stein::inference::cuda {
namespace {

std::string fault_here() {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  return driver_fault(driver, runtime);
}

}  // namespace

void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)
    fail(ErrorKind::usage, "there is no GPU here that can be used: {}; device cpu is the processor", fault_here());
  fail(ErrorKind::io, "cannot {}: CUDA says '{}'", what, cudaGetErrorString(status));
}

void check_memory(cudaError_t status, std::size_t bytes) {
  if (status != cudaErrorMemoryAllocation) return check(status, "get memory on the GPU");
  static_cast<void>(cudaGetLastError());  // of this call alone: CUDA would tell the next one of it too
  int index = 0;
  std::size_t free = 0, total = 0;
  check(cudaGetDevice(&index), "use a GPU");
  check(cudaMemGetInfo(&free, &total), "use a GPU");
  fail_without_room({.kind = Device::Kind::cuda, .index = index}, bytes, free, total);
}

namespace {

int device_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "use a GPU");
  return count;
}

}  // namespace

std::int32_t make_current(std::int32_t index) {
  static const int count = device_count();
  STEIN_CHECK(index >= 0 && index < count, "expected a GPU from 0 to {}, got {}", count - 1, index);
  int before = 0;
  check(cudaGetDevice(&before), "use a GPU");
  if (before != index) check(cudaSetDevice(index), "use a GPU");
  return before;
}

std::int32_t device_of(const void* numbers) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, numbers), "use a GPU");
  STEIN_CHECK(attributes.type == cudaMemoryTypeDevice,
              "the CUDA drivers: expected numbers on a GPU, got some on the host");
  return attributes.device;
}

CurrentDevice::CurrentDevice(std::int32_t index) : before_(make_current(index)), index_(index) {}

CurrentDevice::~CurrentDevice() {
  if (before_ != index_) static_cast<void>(cudaSetDevice(before_));  // it was the current one before
}

}  // namespace stein::inference::cuda
