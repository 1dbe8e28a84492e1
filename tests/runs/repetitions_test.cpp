// When runs record, and where other seeds come from.
#include <stein/runs/repetitions.h>

#include <catch2/catch.hpp>
#include <set>

using namespace stein;
using namespace stein::runs;

TEST_CASE("every step is recorded at first, then 64 in every doubling", "[runs][repetitions]") {
  for (std::int64_t step = 1; step < 128; ++step) CHECK(is_recorded(step));
  for (std::int64_t from = 128; from <= 1 << 20; from *= 2) {
    CHECK(is_recorded(from));
    std::int64_t recorded = 0;
    for (std::int64_t step = from; step < 2 * from; ++step) recorded += is_recorded(step) ? 1 : 0;
    CHECK(recorded == 64);
  }
}

TEST_CASE("seeds that are derived from one seed differ, and are the same again", "[runs][repetitions]") {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (std::uint32_t row = 0; row < 50; ++row) seeds.insert(derived_seed({.seed = seed}, row));
  CHECK(seeds.size() == 2500);
  CHECK(derived_seed({.seed = 1}, 2) == derived_seed({.seed = 1}, 2));
}
