// Whether the policies learn: several seeds, a statistic with a stated error rate.
#include <stein/agents/bandits/bandit_agent.h>

#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::agents;

TEST_CASE("on a linear bandit network policies halve the regret of chance on at least four of five seeds",
          "[agents][learning][slow]") {
  // Chance alone gives a ratio of 1 with an sd of a few percent, so a ratio below ½ does not happen by luck; one seed
  // of five may fail.
  for (const char* name : {"svgd", "s2vgd", "vmg", "ensemble"}) {
    int good = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto environment = envs::bandits().at("linear").builder();
      const auto policy = policies::bandit_policies().at(name).builder();
      OptionTable options;
      policy->describe(options);
      options.set("particles", "5");
      options.set("hidden", "16");
      options.set("step_size", "0.01");
      auto world = environment->make({});
      auto chooser = policy->make(world->spec(), seed);
      BanditAgent agent({.updates = 8, .forced_pulls = 3}, seed, std::move(world), std::move(chooser));
      for (int t = 0; t < 500; ++t) agent.step();
      good += agent.last().regret < 0.5 * agent.last().uniform_regret;
    }
    CAPTURE(name, good);
    CHECK(good >= 4);
  }
}
