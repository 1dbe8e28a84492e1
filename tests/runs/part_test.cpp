#include <stein/runs/part.h>

#include <catch2/catch.hpp>

#include "runs/toy_experiment.h"

using namespace stein;

TEST_CASE("a part holds the options and presets of its table", "[runs][part]") {
  test::CounterOptions options;
  const runs::Part part = runs::make_part("policy", "svgd", "one line", OptionTable::of(options));
  CHECK(part.title() == "policy svgd");
  CHECK(part.options == std::set<std::string>{"breaks_at", "end", "loud", "stride", "strides_at_once", "warns_at"});
  REQUIRE(part.presets.size() == 1);
  CHECK(part.presets[0].name == "paper");
  CHECK_THAT(part.markdown, Catch::Contains("| `stride` |"));
  const runs::Part bare = runs::make_part("run", "", "", OptionTable());
  CHECK(bare.title() == "run");
  CHECK(bare.markdown == "No options.\n");
}
