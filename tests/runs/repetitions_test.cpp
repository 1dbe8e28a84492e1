// When runs record, which seeds they take, and where others come from.
#include <stein/runs/repetitions.h>

#include <catch2/catch.hpp>
#include <set>

#include "core/error_matcher.h"

using namespace stein;
using namespace stein::agents;

TEST_CASE("every step is recorded at first, then 64 in every doubling", "[agents][repetitions]") {
  for (std::int64_t step = 1; step < 128; ++step) CHECK(is_recorded(step));
  for (std::int64_t from = 128; from <= 1 << 20; from *= 2) {
    CHECK(is_recorded(from));
    std::int64_t recorded = 0;
    for (std::int64_t step = from; step < 2 * from; ++step) recorded += is_recorded(step) ? 1 : 0;
    CHECK(recorded == 64);
  }
}

TEST_CASE("a range of seeds holds one at least", "[agents][repetitions]") {
  check_seeds(4, 5);
  CHECK_ERROR(check_seeds(5, 5), usage, "5:5", "hold no seed", "must be larger");
  CHECK_ERROR(check_seeds(6, 5), usage, "6:5");
}

TEST_CASE("repetitions keep apart in a snapshot and in their random numbers", "[agents][repetitions]") {
  std::set<std::string> names;
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    names.insert(part_name(seed));
    for (std::uint32_t row = 0; row < 50; ++row) seeds.insert(derived_seed({.seed = seed}, row));
  }
  CHECK(names.size() == 50);
  CHECK(seeds.size() == 2500);
  CHECK(derived_seed({.seed = 1}, 2) == derived_seed({.seed = 1}, 2));
}
