#include "emulated_gpu/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stein::test {
namespace {

std::size_t page() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

constexpr int untouched = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void stop(const char* why) {
  static_cast<void>(std::fprintf(stderr, "emulated GPU: %s\n", why));
  std::abort();
}

GuardedMemory::GuardedMemory(std::size_t bytes) : size_((bytes + page() - 1) / page() * page()) {
  void* const memory = ::mmap(nullptr, size_ + page(), PROT_NONE, untouched, -1, 0);
  if (memory == MAP_FAILED) stop("no memory");
  pages_ = static_cast<std::byte*>(memory);
  set_open(true);
  forget();
}

GuardedMemory::~GuardedMemory() {
  if (pages_ != nullptr) ::munmap(pages_, size_ + page());
}

void GuardedMemory::forget() {
  std::memset(pages_, 0xFF, size_);
}

void GuardedMemory::set_open(bool open) {
  if (::mprotect(pages_, size_, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) stop("no memory");
}

void GuardedMemory::retire() {
  if (::mmap(pages_, size_, PROT_NONE, untouched | MAP_FIXED, -1, 0) == MAP_FAILED) stop("no memory");
  pages_ = nullptr;
}

}  // namespace stein::test
