// Calls of the CUDA runtime, and the device that they are made for.
#pragma once

#include <cuda_runtime_api.h>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stein::inference::cuda {

/// Throws Error(usage) saying why where there is no GPU, Error(io) with CUDA's reason for what else went wrong; `what`
/// completes "cannot …".
void check(cudaError_t status, std::string_view what);

/// The same of memory that the current GPU was asked for; where it has no room Error(io) as fail_without_room.
void check_memory(cudaError_t status, std::size_t bytes);

/// Makes a GPU the current one of this thread; returns which was before.
/// Throws Error(usage) naming how many GPUs there are where `index` is none of them.
std::int32_t make_current(std::int32_t index);

/// The GPU of an address. Throws Error(usage) where it is not of a GPU.
std::int32_t device_of(const void* numbers);

/// Makes a GPU the current one until the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(std::int32_t index);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

 private:
  std::int32_t before_, index_;
};

}  // namespace stein::inference::cuda
