// What a feed demands of what a reader gives.
#pragma once

#include <stdexcept>

namespace stein::test {

/// Throws std::logic_error(what) unless `condition` holds: libFuzzer stops there and keeps the input.
inline void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace stein::test
