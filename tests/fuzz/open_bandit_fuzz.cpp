#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/feed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stein::test::feed("open-bandit", {reinterpret_cast<const char*>(data), size});
  return 0;
}
