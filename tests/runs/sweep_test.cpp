#include <stein/runs/sweep.h>

#include <catch2/catch.hpp>

#include "core/error_matcher.h"
#include "core/temporary_directory.h"

using namespace stein;
using runs::SweepAxis;

TEST_CASE("values of a sweep are separated by commas, or by semicolons where they have commas", "[runs][sweep]") {
  CHECK(SweepAxis::parse("step_size=0.1,0.2").values == std::vector<std::string>{"0.1", "0.2"});
  CHECK(SweepAxis::parse("hidden=50,50;100").values == std::vector<std::string>{"50,50", "100"});
  CHECK(SweepAxis::parse("policy=svgd").key == "policy");
  CHECK_ERROR(SweepAxis::parse("step_size"), usage, "--sweep expects key=value");
  CHECK_ERROR(SweepAxis::parse("step_size=0.1,,0.2"), usage, "between the separators");
  CHECK_ERROR(SweepAxis::parse("step_size=0.1,0.1"), usage, "0.1 occurs twice");
}

TEST_CASE("a folder without a sweep, or with a broken plan, is a data error", "[runs][sweep]") {
  const test::TemporaryDirectory folder;
  CHECK_FALSE(runs::Sweep::is_in(folder.path()));
  CHECK_ERROR(runs::Sweep::open(folder.path()), data, "there is no sweep");
}
