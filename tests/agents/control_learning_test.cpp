// Whether control agents learn: several seeds, a statistic with a stated error rate.
#include <stein/agents/control_agent.h>
#include <stein/agents/evaluation.h>
#include <stein/agents/seed_statistics.h>

#include <catch2/catch.hpp>
#include <vector>

#include "agents/toy_control.h"

using namespace stein;
using namespace stein::agents;

namespace {

/// Mean return of 20 episodes of a posterior's particles, drawn uniformly, playing their most likely actions.
double evaluated(const ControlAgent& agent, const envs::ControlEntry::Builder& environment, std::uint64_t seed) {
  const auto episodes = play_episodes(agent.policy(), environment,
                                      draw_particles(20, agent.policy().particle_count(), seed), {.seed = seed});
  std::vector<double> returns;
  for (const FinishedEpisode& episode : episodes) returns.push_back(episode.total_reward);
  return mean(returns);
}

/// Environment steps of all particles at the first evaluation of at least 475, looked at every `every` steps; −1 if it
/// does not come within 300,000.
std::int64_t steps_to_solve(const ControlAgentOptions& options, std::uint64_t seed, std::int64_t every) {
  const auto environment = envs::controls().at("CartPole-v1").builder();
  ControlAgent agent(options, *environment, seed);
  for (std::int64_t look = every; look <= 300'000; look += every) {
    while (agent.total_steps() < look) agent.iterate();
    // Environments of evaluations are not those of training.
    if (evaluated(agent, *environment, 1'000'000 + seed) >= 475) return agent.total_steps();
  }
  return -1;
}

std::vector<std::int64_t> steps_of_seeds(const ControlAgentOptions& options, std::int64_t every) {
  std::vector<std::int64_t> steps;
  for (std::uint64_t seed = 0; seed < 10; ++seed) steps.push_back(steps_to_solve(options, seed, every));
  return steps;
}

}  // namespace

// A policy that has not learned balances for some tens of steps (sd of the mean of 20 about 5): 475 does not come by
// luck. One seed of ten may fail.
TEST_CASE("A2C solves CartPole-v1 within 300,000 steps for at least nine of ten seeds", "[agents][learning][slow]") {
  const std::vector<std::int64_t> steps =
      steps_of_seeds(default_options(Learner::a2c, PolicyPosterior::none, true), 10'000);
  CAPTURE(steps);
  CHECK(std::ranges::count(steps, -1) <= 1);
  WARN(Catch::StringMaker<std::vector<std::int64_t>>::convert(steps));
}

TEST_CASE("Stein A2C with 16 particles solves CartPole-v1 within 300,000 steps of all together for nine of ten seeds",
          "[agents][learning][slow]") {
  ControlAgentOptions options = default_options(Learner::a2c, PolicyPosterior::svgd, true);
  test::set(options, {{"particles", "16"},
                      {"slots", "1"},
                      {"steps", "32"},
                      {"step_size", "0.005"},
                      {"value_step_size", "0.01"},
                      {"value_updates", "4"},
                      {"alpha", "0.001"},
                      {"initial_correlation", "0.99"},
                      {"kernel", "imq"}});
  const std::vector<std::int64_t> steps = steps_of_seeds(options, 20'000);
  CAPTURE(steps);
  CHECK(std::ranges::count(steps, -1) <= 1);
  WARN(Catch::StringMaker<std::vector<std::int64_t>>::convert(steps));
}

TEST_CASE("REINFORCE balances rllab's pole far longer than at its start", "[agents][learning][slow]") {
  // A path pays about 10 a step; 500 steps are all there are. Chance lasts a few tens of steps.
  const auto environment = envs::controls().at("cartpole").builder();
  int good = 0;
  std::vector<double> before, after;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    ControlAgent agent(default_options(Learner::reinforce, PolicyPosterior::none, false), *environment, seed);
    before.push_back(evaluated(agent, *environment, 1'000'000 + seed));
    while (agent.iterations() < 40) agent.iterate();
    after.push_back(evaluated(agent, *environment, 1'000'000 + seed));
    good += after.back() > 4 * before.back() ? 1 : 0;
  }
  CAPTURE(before, after);
  CHECK(good >= 9);
  WARN(Catch::StringMaker<std::vector<double>>::convert(before) + Catch::StringMaker<std::vector<double>>::convert(after));
}
