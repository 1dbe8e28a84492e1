// Whether control agents learn: several seeds, a statistic with a stated error rate.
#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/evaluation.h>

#include <catch2/catch.hpp>
#include <vector>

#include "agents/toy_control.h"
#include "inference/gpu.h"

using namespace stein;
using namespace stein::agents;

namespace {

/// Mean return of 20 episodes of a posterior's particles, drawn uniformly, playing their most likely actions.
double evaluated(const ControlAgent& agent, const envs::ControlEntry::Builder& environment, std::uint64_t seed) {
  const auto episodes = play_episodes(agent.policy(), environment,
                                      draw_particles(20, agent.policy().particle_count(), seed), {.seed = seed});
  double sum = 0;
  for (const FinishedEpisode& episode : episodes) sum += episode.total_reward;
  return sum / 20;
}

/// Environment steps of all particles at the first evaluation of at least 475, looked at every 2,000 steps and
/// confirmed by 20 other episodes, as the best of many looks flatters; −1 if it does not come within 300,000.
std::int64_t steps_to_solve(const ControlAgentOptions& options, std::uint64_t seed, inference::Device device) {
  const auto environment = envs::controls().at("CartPole-v1").builder();
  ControlAgent agent(options, *environment, seed, device);
  for (std::int64_t look = 2000; look <= 300'000; look += 2000) {
    while (agent.total_steps() < look) agent.iterate();
    // Environments of evaluations are not those of training.
    if (evaluated(agent, *environment, 1'000'000 + seed) >= 475 &&
        evaluated(agent, *environment, 2'000'000 + seed) >= 475)
      return agent.total_steps();
  }
  return -1;
}

std::vector<std::int64_t> steps_of_seeds(const ControlAgentOptions& options, inference::Device device = {}) {
  std::vector<std::int64_t> steps;
  for (std::uint64_t seed = 0; seed < 10; ++seed) steps.push_back(steps_to_solve(options, seed, device));
  return steps;
}

}  // namespace

// A policy that has not learned balances for some tens of steps (sd of the mean of 20 about 5): 475 does not come by
// luck. One seed of ten may fail. How often that would happen to other seeds: of seeds 10 … 69 all 60 reached 475
// within 25,000 steps, with posterior none, svgd and s2vgd alike (the latter two within 20,480; `stein rl --env
// CartPole-v1 --agent a2c --seeds 10:70 --set steps=60000 decay_steps=300000 evaluate_every=4000 final_episodes=16`),
// so a seed fails with probability below 0.05 (95 %) and two of ten with probability below 0.09; were it 0.008 as (0 +
// ½)/61 says, 0.003. Seeds are fixed: a failure says that a change of the code has changed what they do.
TEST_CASE("A2C solves CartPole-v1 within 300,000 steps for at least nine of ten seeds", "[agents][learning][slow]") {
  const std::vector<std::int64_t> steps = steps_of_seeds(default_options(Learner::a2c, PolicyPosterior::none, true));
  CAPTURE(steps);
  CHECK(std::ranges::count(steps, -1) <= 1);
}

TEST_CASE("Stein A2C with 16 particles solves CartPole-v1 within 300,000 steps of all together for nine of ten seeds",
          "[agents][learning][slow]") {
  const bool structured = GENERATE(false, true);
  const ControlAgentOptions options =
      default_options(Learner::a2c, structured ? PolicyPosterior::s2vgd : PolicyPosterior::svgd, true);
  REQUIRE(options.particles == 16);
  const std::vector<std::int64_t> steps = steps_of_seeds(options);
  CAPTURE(structured, steps);
  CHECK(std::ranges::count(steps, -1) <= 1);
}

TEST_CASE("A2C and Stein A2C that play and learn on a GPU solve CartPole-v1 for nine seeds of ten",
          "[agents][learning][gpu]") {
  const inference::Device device = test::gpu();
  const PolicyPosterior posterior = GENERATE(PolicyPosterior::none, PolicyPosterior::svgd);
  const std::vector<std::int64_t> steps = steps_of_seeds(default_options(Learner::a2c, posterior, true), device);
  CAPTURE(static_cast<int>(posterior), steps);
  CHECK(std::ranges::count(steps, -1) <= 1);
}

TEST_CASE("REINFORCE balances rllab's pole ten times as long as at its start", "[agents][learning][slow]") {
  // A path pays about 10 a step, and 500 steps are all there are. At the start the mean of 20 returns is about 140 (sd
  // 15), so ten times that is no luck; one seed of ten may fail.
  const auto environment = envs::controls().at("cartpole").builder();
  ControlAgentOptions options = default_options(Learner::reinforce, PolicyPosterior::none, false);
  test::set(options, {{"step_size", "0.02"}});
  int good = 0;
  std::vector<double> before, after;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    ControlAgent agent(options, *environment, seed);
    before.push_back(evaluated(agent, *environment, 1'000'000 + seed));
    while (agent.iterations() < 30) agent.iterate();
    after.push_back(evaluated(agent, *environment, 1'000'000 + seed));
    good += after.back() > 10 * before.back() ? 1 : 0;
  }
  CAPTURE(before, after);
  CHECK(good >= 9);
}
