#include <stein/core/checkpoint.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "cli/program.h"

using namespace stein::test;
using Catch::Contains;

namespace {

bool all_finite(const stein::Snapshot& state) {
  for (const auto& [name, array] : state.arrays()) {
    if (array.type != stein::ElementType::float32 || array.bytes.size() == 0) continue;
    std::vector<float> values(array.bytes.size() / sizeof(float));
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    for (const float value : values)
      if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a run that diverges names the coordinate, exits with 4 and leaves its last finite state", "[cli][numeric]") {
  const TemporaryDirectory folder;
  // Steps of 1e30 reach the largest float within a few updates; learning starts with the sixth interaction, after the
  // checkpoint at the fifth.
  const Outcome outcome = run(folder.path(), {"bandit", "--env", "mushroom-synthetic", "--policy", "svgd", "--seeds",
                                              "0:2", "--set", "steps=50", "updates=20", "step_size=1e30",
                                              "learn_every=6", "checkpoint_every=5", "--out", "run", "--json"});
  CHECK(outcome.code == 4);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Contains("interaction 5") && Contains("weight[") && Contains("of particle") &&
                              Contains("after 5 interactions") && Contains("run/checkpoints"));
  CHECK_THAT(content_of(folder / "run/log.txt"), Contains("of particle"));
  const Outcome report = run(folder.path(), {"report", "run"});
  CHECK(report.code == 0);  // of what it recorded until then
  CHECK_THAT(report.out, Contains("'run' diverged") && Contains("of particle"));
  const auto checkpoint = stein::load_latest_checkpoint(folder / "run/checkpoints");
  REQUIRE(checkpoint.has_value());
  CHECK(checkpoint->step == 5);
  CHECK(checkpoint->state.arrays().size() > 10);
  CHECK(all_finite(checkpoint->state));
  const Outcome resumed = run(folder.path(), {"resume", "run", "--quiet"});
  CHECK(resumed.code == 4);
  CHECK_THAT(resumed.err, Contains("'run' diverged and will again"));
}

TEST_CASE("control runs whose weights stay finite, but far beyond any policy's, diverge too", "[cli][numeric][rl]") {
  const TemporaryDirectory folder;
  const auto diverged = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"rl",      "--out",  "run",   "--overwrite",
                                       "--quiet", "--json", "--set", "steps=20000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(folder.path(), arguments);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 4);
    CHECK(outcome.out.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "run/summary.json"));
    return outcome.err;
  };
  for (const char* agent : {"reinforce", "a2c", "ppo"})
    for (const char* environment : {"CartPole-v1", "Pendulum-v1"}) {
      CAPTURE(agent, environment);
      CHECK_THAT(diverged({"step_size=1e30", "--agent", agent, "--env", environment}), Contains("seed 0, iteration "));
    }
  CHECK_THAT(
      diverged({"step_size=1e30"}),
      Contains("seed 0, iteration 1: the training diverged: the policy's weights are finite, but go up to 1e+30") &&
          Contains("the last finite state, after 0 steps, is saved in 'run/checkpoints'"));
  CHECK_THAT(diverged({"step_size=1e7", "--agent", "reinforce", "--posterior", "svgd"}), Contains("go up to "));
  CHECK_THAT(run(folder.path(), {"report", "run"}).out, Contains("'run' diverged"));
}
