// The memory of GPUs, registered as "cuda". Everything is put in the stream 0 of its GPU, where LibTorch works too
// unless it is told otherwise, so neither has to wait for the other.
#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/sampler_kernels.h>
#include <stein/inference/cuda/send_home.h>
#include <stein/inference/storage/device_memory.h>

namespace stein::inference::cuda {
namespace {

/// Lets the GPU keep up to 64 MiB of what its driver takes and gives back in every step (sampler_driver.cpp): by
/// default all of it goes back to the system whenever the host waits.
void keep_scratch(std::int32_t index) {
  cudaMemPool_t pool = nullptr;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  check(cudaDeviceGetDefaultMemPool(&pool, index), "use a GPU");
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes), "use a GPU");
}

std::int32_t count() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

void* allocate(std::int32_t index, std::size_t bytes) {
  const CurrentDevice device(index);
  keep_scratch(index);
  void* memory = nullptr;
  check_memory(cudaMalloc(&memory, bytes), bytes);
  const cudaError_t cleared = cudaMemset(memory, 0, bytes);
  if (cleared != cudaSuccess) static_cast<void>(cudaFree(memory));
  check(cleared, "clear memory of the GPU");
  return memory;
}

/// At the end of the program CUDA may be gone before the memory is released: nothing is left to do then.
void release(std::int32_t, void* memory, std::size_t) noexcept {
  static_cast<void>(cudaFree(memory));
}

void copy(std::int32_t index, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const CurrentDevice device(index);
  check(cudaMemcpy(to, from, bytes, kind), "copy memory of the GPU");
  check(cudaStreamSynchronize(nullptr),
        "copy memory of the GPU");  // a copy from pageable memory may still be under way
}

void copy_in(std::int32_t index, void* to, const void* host, std::size_t bytes) {
  copy(index, to, host, bytes, cudaMemcpyHostToDevice);
}

void copy_out(std::int32_t index, void* host, const void* from, std::size_t bytes) {
  copy(index, host, from, bytes, cudaMemcpyDeviceToHost);
}

void copy_within(std::int32_t index, void* to, const void* from, std::size_t bytes) {
  const CurrentDevice device(index);
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr), "copy memory of the GPU");
}

void fill_floats(std::int32_t index, float* to, float value, std::size_t count) {
  const CurrentDevice device(index);
  fill(to, value, static_cast<std::int64_t>(count), nullptr);
  check(cudaGetLastError(), "fill memory of the GPU");
}

bool holds(std::int32_t index, const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "use a GPU");
  return attributes.type == cudaMemoryTypeDevice && attributes.device == index;
}

/// The device was the current one before.
void leave(std::int32_t before) noexcept {
  static_cast<void>(cudaSetDevice(before));
}

std::string model(std::int32_t index) {
  const CurrentDevice device(index);  // says how many GPUs there are where this is none of them
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "use a GPU");
  return properties.name;
}

const bool registered = device_memories().add("cuda", {.count = count,
                                                       .allocate = allocate,
                                                       .release = release,
                                                       .copy_in = copy_in,
                                                       .copy_out = copy_out,
                                                       .copy_within = copy_within,
                                                       .send_home = send_home,
                                                       .fill = fill_floats,
                                                       .holds = holds,
                                                       .enter = make_current,
                                                       .leave = leave,
                                                       .model = model});

}  // namespace
}  // namespace stein::inference::cuda
