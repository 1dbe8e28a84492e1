// Where numbers lie.
#pragma once

#include <cstdint>

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

}  // namespace stein::inference
