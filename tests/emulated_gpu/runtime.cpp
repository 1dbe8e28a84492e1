// The functions of the CUDA runtime that Stein calls, for four GPUs on the host.
#include <cuda_runtime_api.h>

#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "emulated_gpu/block_runner.h"
#include "emulated_gpu/gpu.h"

// What cudaEvent_t points to.
struct CUevent_st {
  int gpu = 0;
  std::uint64_t after = 0;  ///< so many works of its stream
};

namespace {

using stein::test::KernelShape;

constexpr int gpus = 4;
constexpr std::size_t room = std::size_t{2} << 30;  // of a GPU [bytes]
constexpr std::size_t most_shared = 227 << 10;      // of a block [bytes], as an H100 has
constexpr unsigned most_threads = 1024, most_blocks_y = 65535;
constexpr int queries_until_done = 64;  // a host that only asks again and again is answered one day

/// Memory that was asked for. Its end is the end of its pages but for less than an alignment.
struct Allocation {
  std::byte* pages;
  std::size_t page_bytes, bytes;
  int gpu;  ///< −1: page-locked memory of the host
};

struct Gpu {
  std::deque<std::function<void()>> works;  ///< of the stream, not begun
  std::uint64_t put = 0, done = 0;
  std::size_t used = 0;
};

std::size_t page() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// All GPUs. Calls come one at a time.
class Gpus {
 public:
  std::recursive_mutex mutex;
  std::array<Gpu, gpus> all;
  std::map<std::byte*, Allocation> memory;  ///< by where it begins

  static Gpus& instance() {
    static auto& only = *new Gpus;  // libraries release memory while the program ends
    return only;
  }

  void put(int gpu, std::function<void()> work) {
    all[static_cast<std::size_t>(gpu)].works.push_back(std::move(work));
    ++all[static_cast<std::size_t>(gpu)].put;
  }

  /// What the stream of a GPU has been given, all of it.
  void run(int gpu) {
    Gpu& own = all[static_cast<std::size_t>(gpu)];
    if (own.works.empty()) return;
    open(gpu, PROT_READ | PROT_WRITE);
    while (!own.works.empty()) {
      const std::function<void()> work = std::move(own.works.front());
      own.works.pop_front();
      work();
      ++own.done;
    }
    open(gpu, PROT_NONE);
  }

  /// Null where there is no room.
  void* allocate(int gpu, std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    const std::size_t rounded = std::max<std::size_t>((bytes + alignment - 1) / alignment, 1) * alignment;
    if (gpu >= 0 && rounded > room - all[static_cast<std::size_t>(gpu)].used) return nullptr;
    const std::size_t page_bytes = (rounded + page() - 1) / page() * page();
    void* const pages =
        ::mmap(nullptr, page_bytes + page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    const Allocation made{
        .pages = static_cast<std::byte*>(pages), .page_bytes = page_bytes, .bytes = bytes, .gpu = gpu};
    ::mprotect(pages, page_bytes, PROT_READ | PROT_WRITE);
    std::memset(pages, 0xFF, page_bytes);  // floats that are no numbers
    if (gpu >= 0) {
      all[static_cast<std::size_t>(gpu)].used += rounded;
      if (!running_[static_cast<std::size_t>(gpu)]) ::mprotect(pages, page_bytes, PROT_NONE);
    }
    std::byte* const begin = made.pages + page_bytes - rounded;
    memory.emplace(begin, made);
    return begin;
  }

  /// Its addresses are never given again: whoever comes late finds nothing there.
  void release(void* begin) {
    const auto place = memory.find(static_cast<std::byte*>(begin));
    if (place == memory.end()) stop("memory is given back that was not asked for");
    const Allocation gone = place->second;
    memory.erase(place);
    if (gone.gpu >= 0)
      all[static_cast<std::size_t>(gone.gpu)].used -=
          static_cast<std::size_t>(gone.pages + gone.page_bytes - static_cast<std::byte*>(begin));
    static_cast<void>(
        ::mmap(gone.pages, gone.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
  }

  /// The memory that an address lies in; null where in none.
  const Allocation* holding(const void* address) const {
    const auto* at = static_cast<const std::byte*>(address);
    auto after = memory.upper_bound(const_cast<std::byte*>(at));
    if (after == memory.begin()) return nullptr;
    const Allocation& found = std::prev(after)->second;
    return at < found.pages + found.page_bytes ? &found : nullptr;
  }

  [[noreturn]] static void stop(const char* why) {
    static_cast<void>(std::fprintf(stderr, "emulated GPU: %s\n", why));
    std::abort();
  }

 private:
  void open(int gpu, int protection) {
    running_[static_cast<std::size_t>(gpu)] = protection != PROT_NONE;
    for (const auto& [begin, own] : memory)
      if (own.gpu == gpu) ::mprotect(own.pages, own.page_bytes, protection);
  }

  std::array<bool, gpus> running_{};
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

cudaError_t run_all(Gpus& all, int gpu) {
  all.run(gpu);
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
    *total = room, *free = room - all.all[static_cast<std::size_t>(current)].used;
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
    return put == cudaSuccess ? run_all(all, current) : put;
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
  return with_gpus([](Gpus& all) { return run_all(all, current); });
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
    event->after = all.all[static_cast<std::size_t>(current)].put;
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_gpus([&](Gpus& all) {
    if (all.all[static_cast<std::size_t>(event->gpu)].done < event->after) all.run(event->gpu);
    return cudaSuccess;
  });
}

/// Not ready counts as an error that was seen last: cudaGetLastError says so unless it is asked before.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  static thread_local int asked = 0;
  return with_gpus([&](Gpus& all) {
    if (all.all[static_cast<std::size_t>(event->gpu)].done < event->after && ++asked % queries_until_done == 0)
      all.run(event->gpu);
    return all.all[static_cast<std::size_t>(event->gpu)].done < event->after ? cudaErrorNotReady : cudaSuccess;
  });
}

}  // extern "C"
