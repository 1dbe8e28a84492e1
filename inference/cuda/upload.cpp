#include <stein/inference/cuda/call.h>
#include <stein/inference/cuda/page_locked_memory.h>
#include <stein/inference/cuda/upload.h>

#include <array>
#include <cstring>
#include <map>
#include <string_view>

namespace stein::inference::cuda {
namespace {

/// Several for every GPU that a thread copies to, taken in turn.
struct PageLockedParts {
  std::array<PageLockedMemory, 4> parts;
  std::size_t next = 0;
};

}  // namespace

void upload(void* to, const void* host, std::size_t bytes, GpuStream stream) {
  if (bytes == 0) return;
  static thread_local std::map<int, PageLockedParts> of_gpus;
  int gpu = 0;
  check(cudaGetDevice(&gpu), "use a GPU");
  PageLockedParts& own = of_gpus[gpu];
  constexpr std::string_view what = "copy to the GPU";
  PageLockedMemory& part = own.parts[own.next];
  part.wait(what);  // for the last copy from here
  void* const memory = part.reserve(bytes);
  std::memcpy(memory, host, bytes);
  check(cudaMemcpyAsync(to, memory, bytes, cudaMemcpyHostToDevice, stream), what);
  part.record(stream, what);
  own.next = (own.next + 1) % own.parts.size();
}

}  // namespace stein::inference::cuda
