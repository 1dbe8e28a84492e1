#include <stein/bench/resident_memory.h>

#include <sys/mman.h>
#include <catch2/catch.hpp>

using namespace stein::bench;

TEST_CASE("the peak of memory is in bytes what was resident, also where it was given back", "[bench]") {
  constexpr std::size_t size = std::size_t{256} << 20;
  // Pages that the kernel fills: a sanitizer keeps no shadow of them.
  const auto peak = peak_memory_of([] {
    void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    munmap(pages, size);
  });
  REQUIRE(peak.has_value());
  CHECK(*peak == Approx(static_cast<double>(size)).epsilon(0.01));
}
