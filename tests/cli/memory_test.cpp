#include <catch2/catch.hpp>

#include "cli/program.h"

using namespace stein::test;

TEST_CASE("memory stays flat once the window is full", "[cli][bandit][slow]") {
  const TemporaryDirectory folder;
  const auto peak_megabytes = [&](const std::string& steps) {
    const Outcome outcome =
        run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "svgd", "--set", "steps=" + steps,
                            "updates=1", "learn_every=20", "--log-decisions", "--out", steps, "--json", "--quiet"});
    REQUIRE(outcome.code == 0);
    return outcome.json()["peak_memory_mb"].get<double>();
  };
  // 44,000 more interactions of 22 numbers each would take 4 MB if they were kept, their log lines another 7 MB.
  CHECK(peak_megabytes("50000") - peak_megabytes("6000") < 3);
}
