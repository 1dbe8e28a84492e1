#include <stein/core/physical_memory.h>
#include <unistd.h>

#include <algorithm>

namespace stein {

std::int64_t physical_memory() {
  const std::int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return std::max<std::int64_t>(pages, 0) * std::max<std::int64_t>(size, 0);
}

}  // namespace stein
