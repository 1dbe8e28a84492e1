// Where numbers lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stein::inference {

/// A memory, and what computes on it.
struct Device {
  /// Which memory.
  enum class Kind : std::uint8_t {
    host,
    cuda,    ///< a GPU: stein::cuda, which is loaded when it is needed
    fenced,  ///< of tests: host memory that is readable inside the functions of a driver only
  };
  Kind kind = Kind::host;
  std::int32_t index = 0;  ///< which of its kind

  /// The same kind and index.
  friend bool operator==(const Device&, const Device&) = default;
};

/// "cpu", "cuda" (the first GPU) or "cuda:1"; in a program of the tests that has the fenced device "fenced" too. Throws
/// Error(usage) for anything else; whether there is such a GPU is not looked at.
Device parse_device(std::string_view text);
/// What `parse_device` reads: "cuda:1".
std::string device_name(Device device);

}  // namespace stein::inference
