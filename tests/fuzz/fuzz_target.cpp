// libFuzzer's entry: gives what it makes up to STEIN_FEED, which is declared in STEIN_FEED_HEADER, as an input of the
// kind STEIN_KIND.
#include STEIN_FEED_HEADER

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stein::test::STEIN_FEED(STEIN_KIND, std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
