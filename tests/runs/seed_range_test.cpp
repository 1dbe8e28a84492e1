#include <stein/runs/seed_range.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"

using namespace stein;
using runs::SeedRange;

TEST_CASE("seeds are from A up to but without B", "[runs][seeds]") {
  const SeedRange range = SeedRange::parse("3:7");
  CHECK(range.first == 3);
  CHECK(range.end == 7);
  CHECK(range.count() == 4);
  CHECK_FALSE(range.contains(2));
  CHECK(range.contains(3));
  CHECK(range.contains(6));
  CHECK_FALSE(range.contains(7));
  CHECK(SeedRange::parse("18446744073709551614:18446744073709551615").count() == 1);
  CHECK(SeedRange::parse("0:10000").count() == 10'000);
}

TEST_CASE("what is no range of seeds is refused", "[runs][seeds]") {
  for (const char* text : {"", "3", "3:", ":3", "3:4:5", "3:4 ", "-1:2", "a:b", "1.5:2", "18446744073709551616:1"}) {
    CAPTURE(text);
    CHECK_ERROR(SeedRange::parse(text), usage, "A:B");
  }
  CHECK_ERROR(SeedRange::parse("3:3"), usage, "3:3", "hold no seed");
  CHECK_ERROR(SeedRange::parse("4:3"), usage, "4:3", "hold no seed");
  CHECK_ERROR(SeedRange::parse("0:10001"), usage, "at most 10000 seeds", "got 10001");
}
