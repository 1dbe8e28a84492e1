#include <fmt/format.h>
#include <stein/core/error.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/device_memory.h>

#include <charconv>

namespace stein::inference {

Device parse_device(std::string_view text) {
  constexpr std::string_view prefix = "cuda:";
  if (text == "cpu") return {};
  if (text == "cuda") return {.kind = Device::Kind::cuda};
  if (text == "fenced" && device_memories().entries().contains(text)) return {.kind = Device::Kind::fenced};
  Device device{.kind = Device::Kind::cuda};
  const std::string_view digits = text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), device.index);
  STEIN_CHECK(!digits.empty() && error == std::errc() && end == digits.data() + digits.size() && device.index >= 0,
              "device expects cpu, cuda or cuda:INDEX, got '{}'", text);
  return device;
}

std::string device_name(Device device) {
  switch (device.kind) {
    case Device::Kind::host: return "cpu";
    case Device::Kind::cuda: return device.index == 0 ? "cuda" : fmt::format("cuda:{}", device.index);
    case Device::Kind::fenced: break;
  }
  return "fenced";
}

}  // namespace stein::inference
