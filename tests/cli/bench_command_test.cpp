#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

TEST_CASE("a benchmark prints its rows as one JSON object", "[cli][bench]") {
  const TemporaryDirectory folder;
  const Outcome outcome = run(folder.path(), {"bench", "rng", "--json"});
  REQUIRE(outcome.code == 0);
  const auto result = outcome.json();
  CHECK(result["benchmark"] == "rng");
  CHECK(result["threads"] == 1);
  CHECK(result["simd_target"].is_string());
  REQUIRE(result["rows"].size() >= 1);
  for (const auto& row : result["rows"]) {
    CHECK(row["case"].is_string());
    CHECK(row["unit"] == "million/s");
    CHECK(row["ratio"].get<double>() == Approx(row["ours"].get<double>() / row["reference"].get<double>()));
  }
}

TEST_CASE("without a name the benchmarks are listed", "[cli][bench]") {
  const TemporaryDirectory folder;
  CHECK_THAT(run(folder.path(), {"bench"}).out, Contains("rng"));
}
