#include <stein/core/error.h>
#include <stein/inference/storage/device_room.h>

#include <array>
#include <string>

namespace stein::inference {
namespace {

/// "3.1 GiB".
std::string size_text(std::size_t bytes) {
  constexpr std::array<const char*, 4> units{"bytes", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < units.size(); ++unit) size /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", size, units[unit]);
}

}  // namespace

void fail_without_room(Device device, std::size_t asked, std::size_t free, std::size_t total) {
  fail(ErrorKind::io, "device {} has no room for {} more: {} of {} are free; {}", device_name(device), size_text(asked),
       size_text(free), size_text(total), takes_less_memory);
}

}  // namespace stein::inference
