#include <stein/bench/resident_memory.h>

#include <malloc.h>

#include <fstream>
#include <string>

namespace stein::bench {
namespace {

/// A field of this process's status, in bytes.
std::optional<double> status_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return 1024 * std::stod(line.substr(name.size() + 1));
  return std::nullopt;
}

}  // namespace

std::optional<double> peak_memory_of(const std::function<void()>& body) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak is from now on
  const std::optional<double> before = status_field("VmRSS");
  body();
  const std::optional<double> peak = status_field("VmHWM");
  if (!before || !peak) return std::nullopt;
  return *peak - *before;
}

}  // namespace stein::bench
