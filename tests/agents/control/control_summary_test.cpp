// What a summary says of the final evaluations of a control run.
#include <stein/agents/control/control_summary.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace stein;
using namespace stein::agents;
using Json = nlohmann::ordered_json;

namespace {

/// Two episodes with returns a and a + 2, discounted a/2 and a/2 + 1, of 3 and 5 steps.
std::vector<FinishedEpisode> episodes(double a) {
  return {{.length = 3, .total_reward = a, .discounted_reward = a / 2},
          {.length = 5, .total_reward = a + 2, .discounted_reward = a / 2 + 1}};
}

const std::vector<ControlOutcome> outcomes{{.seed = 1,
                                            .steps = 100,
                                            .iterations = 4,
                                            .deterministic = episodes(10),
                                            .sampled = episodes(0),
                                            .particle_returns = {1, 2, 9},
                                            .steps_to_threshold = 60,
                                            .evaluated = true},
                                           {.seed = 2,
                                            .steps = 110,
                                            .iterations = 5,
                                            .deterministic = episodes(20),
                                            .sampled = episodes(4),
                                            .particle_returns = {3, 4, 8}}};
const std::vector<ControlTiming> timing{{.training_seconds = 2, .seconds_to_threshold = 1.5}, {.training_seconds = 4}};

}  // namespace

TEST_CASE("a summary measures the means of every seed's episodes over seeds", "[agents][control][summary]") {
  const Json summary = summarize_outcomes(outcomes, timing);
  CHECK(summary["return"]["per_seed"] == Json{11.0, 21.0});
  CHECK(summary["return"]["mean"] == 16.0);
  CHECK(summary["return_sampled"]["per_seed"] == Json{1.0, 5.0});
  CHECK(summary["discounted_return"]["per_seed"] == Json{5.5, 10.5});
  CHECK(summary["episode_length"]["per_seed"] == Json{4.0, 4.0});
  CHECK(summary["evaluation_episodes"] == 2);
  CHECK(summary["env_steps"] == 210);
  CHECK(summary["iterations"] == Json{4, 5});
  CHECK(summary["training_seconds"] == 6.0);
  CHECK(summary["steps_per_second"] == 35.0);
}

TEST_CASE("a threshold that a seed did not reach is null, and the mean is of those that did",
          "[agents][control][summary]") {
  const Json summary = summarize_outcomes(outcomes, timing);
  CHECK(summary["steps_to_threshold"] == Json{{"mean", 60.0}, {"sd", nullptr}, {"per_seed", {60.0, nullptr}}});
  CHECK(summary["seconds_to_threshold"]["per_seed"] == Json{1.5, nullptr});
}

TEST_CASE("particles have mean, median and best of every seed", "[agents][control][summary]") {
  const Json particles = summarize_outcomes(outcomes, timing)["particles"];
  CHECK(particles["count"] == 3);
  CHECK(particles["mean"]["per_seed"] == Json{4.0, 5.0});
  CHECK(particles["median"]["per_seed"] == Json{2.0, 4.0});
  CHECK(particles["max"]["per_seed"] == Json{9.0, 8.0});
  CHECK(particles["per_seed"] == Json{{1.0, 2.0, 9.0}, {3.0, 4.0, 8.0}});
}

TEST_CASE("a person reads each of them in a line of its own", "[agents][control][summary]") {
  Json summary{{"seeds", {1, 2}}, {"agent", "a2c"},    {"posterior", "svgd"},    {"env", "countdown"},
               {"steps", 100},    {"threshold", 15.0}, {"peak_memory_mb", 20.0}, {"wall_seconds", 1.0}};
  summary.update(summarize_outcomes(outcomes, timing));
  const std::string text = readable_control_summary(summary);
  CHECK_THAT(text, Catch::Contains("a2c with posterior svgd on countdown, 105 steps per seed\n") &&
                       Catch::Contains("16.0 ± 7.1   mean ± sd of 2 seeds") && Catch::Contains("3.0 ± 2.8") &&
                       Catch::Contains("mean 4.5, median 3.0, best 8.5") &&
                       Catch::Contains("15 in 1 of 2 seeds, median after 60 steps, 1.50 s"));
  summary["steps"] = 50;
  CHECK_THAT(readable_control_summary(summary),
             Catch::Contains("105 steps per seed, in whole iterations (50 asked for)"));
  CHECK(was_evaluated(summary));
  summary["evaluated"] = false;
  CHECK_THAT(readable_control_summary(summary), Catch::Contains("15, not looked for: no evaluation while it learned") &&
                                                    !Catch::Contains("of 2 seeds, median"));
  summary.erase("evaluated");  // of an earlier version
  CHECK(was_evaluated(summary));
}

TEST_CASE("shares of prior, repulsion and drive are of their sum, where anything was measured",
          "[agents][control][summary]") {
  std::vector<ControlOutcome> stein = outcomes;
  stein[0].parts = PosteriorParts{.drive = 6, .prior = 1.5, .repulsion = 0.5};
  const Json share = summarize_outcomes(stein, timing)["posterior_share"];
  CHECK(share["drive"]["per_seed"] == Json{0.75, nullptr});
  CHECK(share["prior"]["per_seed"] == Json{0.1875, nullptr});
  CHECK(share["repulsion"]["per_seed"] == Json{0.0625, nullptr});
}
