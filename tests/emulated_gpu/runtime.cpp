// The functions of the CUDA runtime that Stein calls, for four GPUs on the host.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "emulated_gpu/block_runner.h"
#include "emulated_gpu/gpu.h"
#include "emulated_gpu/guarded_memory.h"

// What cudaEvent_t points to.
struct CUevent_st {
  int gpu = 0;
  std::uint64_t after = 0;  ///< so many works of its stream
};

namespace {

using stein::test::GuardedMemory, stein::test::KernelShape;

constexpr int gpus = 4;
constexpr std::size_t room = std::size_t{2} << 30;  // of a GPU [bytes]
constexpr std::size_t most_shared = 227 << 10;      // of a block [bytes], as an H100 has
constexpr unsigned most_threads = 1024, most_blocks_y = 65535;
constexpr int queries_until_done = 64;  // a host that only asks again and again is answered one day

/// Memory that was asked for, at the end of its pages.
struct Allocation {
  std::unique_ptr<GuardedMemory> pages;
  int gpu;  ///< −1: page-locked memory of the host
};

struct Gpu {
  std::deque<std::function<void()>> works;  ///< of the stream, not begun
  std::uint64_t put = 0, done = 0;
  std::size_t used = 0;
  bool running = false;
};

/// All GPUs. Calls come one at a time.
class Gpus {
 public:
  std::recursive_mutex mutex;

  static Gpus& instance() {
    static auto& only = *new Gpus;  // libraries release memory while the program ends
    return only;
  }

  Gpu& of(int gpu) { return all_[static_cast<std::size_t>(gpu)]; }

  void put(int gpu, std::function<void()> work) {
    of(gpu).works.push_back(std::move(work));
    ++of(gpu).put;
  }

  /// What the stream of a GPU has been given, all of it.
  void run(int gpu) {
    Gpu& own = of(gpu);
    if (own.works.empty()) return;
    open(gpu, true);
    while (!own.works.empty()) {
      const std::function<void()> work = std::move(own.works.front());
      own.works.pop_front();
      work();
      ++own.done;
    }
    open(gpu, false);
  }

  /// Null where there is no room.
  void* allocate(int gpu, std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    const std::size_t taken = std::max<std::size_t>((bytes + alignment - 1) / alignment, 1) * alignment;
    if (gpu >= 0 && taken > room - of(gpu).used) return nullptr;
    auto pages = std::make_unique<GuardedMemory>(taken);
    if (gpu >= 0) {
      of(gpu).used += taken;
      pages->set_open(of(gpu).running);
    }
    std::byte* const begin = pages->end() - taken;
    memory_.emplace(begin, Allocation{std::move(pages), gpu});
    return begin;
  }

  /// Its addresses are never given again: whoever comes late finds nothing there.
  void release(void* begin) {
    const auto place = memory_.find(static_cast<std::byte*>(begin));
    if (place == memory_.end()) stein::test::stop("memory is given back that was not asked for");
    const auto& [at, own] = *place;
    if (own.gpu >= 0) of(own.gpu).used -= static_cast<std::size_t>(own.pages->end() - at);
    own.pages->retire();
    memory_.erase(place);
  }

  /// The memory that an address lies in; null where in none.
  const Allocation* holding(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    const auto after = memory_.upper_bound(const_cast<std::byte*>(at));
    if (after == memory_.begin()) return nullptr;
    const Allocation& found = std::prev(after)->second;
    return at < found.pages->end() ? &found : nullptr;
  }

 private:
  void open(int gpu, bool running) {
    of(gpu).running = running;
    for (const auto& [begin, own] : memory_)
      if (own.gpu == gpu) own.pages->set_open(running);
  }

  std::array<Gpu, gpus> all_;
  std::map<std::byte*, Allocation> memory_;  ///< by where it begins
};

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;

cudaError_t kept(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

/// Calls `work` with the GPUs, while nobody else has them.
template <class Work>
cudaError_t with_gpus(const Work& work) {
  Gpus& all = Gpus::instance();
  const std::lock_guard lock(all.mutex);
  return kept(work(all));
}

cudaError_t run_current(Gpus& all) {
  all.run(current);
  return cudaSuccess;
}

/// The GPU whose stream copies: that of the memory, which has to be the current one.
cudaError_t put_copy(Gpus& all, void* to, const void* from, std::size_t bytes) {
  for (const void* side : {static_cast<const void*>(to), from})
    if (const Allocation* own = all.holding(side); own != nullptr && own->gpu >= 0 && own->gpu != current)
      return cudaErrorInvalidValue;
  if (bytes != 0) all.put(current, [=] { std::memcpy(to, from, bytes); });
  return cudaSuccess;
}

bool is_possible(const KernelShape& shape) {
  const std::size_t threads = std::size_t{shape.threads.x} * shape.threads.y * shape.threads.z;
  return threads > 0 && threads <= most_threads && shape.blocks.x > 0 && shape.blocks.y > 0 && shape.blocks.z > 0 &&
         shape.blocks.y <= most_blocks_y && shape.shared_bytes <= most_shared;
}

}  // namespace

void stein::test::start_kernel(const KernelShape& shape, std::function<void()> thread) {
  static_cast<void>(with_gpus([&](Gpus& all) {
    if (!is_possible(shape)) return cudaErrorInvalidConfiguration;
    all.put(current, [shape, thread = std::move(thread)] { block_runner().run(shape, thread); });
    return cudaSuccess;
  }));
}

void stein::test::start_work(std::function<void()> work) {
  static_cast<void>(with_gpus([&](Gpus& all) {
    all.put(current, std::move(work));
    return cudaSuccess;
  }));
}

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    default: return "invalid argument";
  }
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = gpus;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = current;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= gpus) return kept(cudaErrorInvalidDevice);
  current = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  static_cast<void>(std::snprintf(properties->name, sizeof properties->name, "a GPU of the tests"));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  if (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin) return kept(cudaErrorInvalidValue);
  *value = static_cast<int>(most_shared);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return with_gpus([&](Gpus& all) {
    *total = room, *free = room - all.of(current).used;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return with_gpus([&](Gpus& all) {
    *memory = all.allocate(current, bytes);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(memory, bytes);
}

/// Waits for its GPU, whichever is the current one.
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  return with_gpus([&](Gpus& all) {
    const Allocation* own = all.holding(memory);
    if (own == nullptr || own->gpu < 0) return cudaErrorInvalidValue;
    all.run(own->gpu);
    all.release(memory);
    return cudaSuccess;
  });
}

cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  if (memory == nullptr) return cudaSuccess;
  return with_gpus([&](Gpus& all) {
    const Allocation* own = all.holding(memory);
    if (own == nullptr || own->gpu != current) return cudaErrorInvalidValue;
    all.put(current, [memory, &all] { all.release(memory); });
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return with_gpus([&](Gpus& all) {
    *memory = all.allocate(-1, bytes);
    return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}

/// Waits for nothing, as nobody promises that it does.
cudaError_t cudaFreeHost(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  return with_gpus([&](Gpus& all) {
    const Allocation* own = all.holding(memory);
    if (own == nullptr || own->gpu >= 0) return cudaErrorInvalidValue;
    all.release(memory);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return with_gpus([&](Gpus& all) {
    *attributes = {};
    const Allocation* own = all.holding(address);
    attributes->type = own == nullptr ? cudaMemoryTypeUnregistered
                       : own->gpu < 0 ? cudaMemoryTypeHost
                                      : cudaMemoryTypeDevice;
    attributes->device = own != nullptr && own->gpu >= 0 ? own->gpu : current;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return with_gpus([&](Gpus& all) { return put_copy(all, to, from, bytes); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return with_gpus([&](Gpus& all) {
    const cudaError_t put = put_copy(all, to, from, bytes);
    return put == cudaSuccess ? run_current(all) : put;
  });
}

/// Returns before it is done, as that of a GPU's memory does.
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return with_gpus([&](Gpus& all) {
    const Allocation* own = all.holding(memory);
    if (own == nullptr || own->gpu != current) return cudaErrorInvalidValue;
    all.put(current, [=] { std::memset(memory, value, bytes); });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return with_gpus([](Gpus& all) { return run_current(all); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st{.gpu = current};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  return with_gpus([&](Gpus& all) {
    if (event->gpu != current) return cudaErrorInvalidValue;
    event->after = all.of(current).put;
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_gpus([&](Gpus& all) {
    if (all.of(event->gpu).done < event->after) all.run(event->gpu);
    return cudaSuccess;
  });
}

/// Not ready counts as an error that was seen last: cudaGetLastError says so unless it is asked before.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  static thread_local int asked = 0;
  return with_gpus([&](Gpus& all) {
    if (all.of(event->gpu).done < event->after && ++asked % queries_until_done == 0) all.run(event->gpu);
    return all.of(event->gpu).done < event->after ? cudaErrorNotReady : cudaSuccess;
  });
}

}  // extern "C"
