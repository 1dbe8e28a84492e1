// Whether A2C and PPO learn classic control tasks with their defaults: several seeds, a criterion whose pass rate was
// measured on these and others.
#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/evaluation.h>
#include <stein/agents/control/task_presets.h>
#include <stein/core/parallel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "agents/toy_control.h"

using namespace stein;
using namespace stein::agents;

namespace {

/// Mean return of 20 episodes of the most likely actions, each of a particle that is drawn for it, in environments
/// apart from those of training.
double return_apart(const ControlAgent& agent, const envs::ControlEntry::Builder& environment, std::uint64_t number) {
  double sum = 0;
  const std::uint64_t seed = 1'000'000 + number;
  for (const FinishedEpisode& episode : play_episodes(
           agent.policy(), environment, draw_particles(20, agent.policy().particle_count(), seed), {.seed = seed}))
    sum += episode.total_reward;
  return sum / 20;
}

/// What `stein rl` makes of the task and the agent where it is told nothing else but the steps.
struct Training {
  std::unique_ptr<envs::ControlEntry::Builder> environment;
  ControlAgentOptions options;

  Training(const std::string& task, Learner learner, std::int64_t steps,
           PolicyPosterior posterior = PolicyPosterior::none)
      : environment(envs::controls().at(task).builder()),
        options(default_options(learner, posterior, environment->spec().discrete())) {
    options.decay_steps = steps;
    if (!environment->spec().discrete()) OptionTable::of(*environment).set("normalize_actions", "true");
  }
};

/// What the preset of that name changes.
void apply(const std::string& name, const std::vector<Preset>& presets, ControlAgentOptions& options) {
  const auto found = std::ranges::find(presets, name, &Preset::name);
  REQUIRE(found != presets.end());
  test::set(options, {found->settings.begin(), found->settings.end()});
}

/// The returns of seeds 0 … after so many steps.
std::vector<double> returns_of(const Training& training, std::int64_t steps, std::int64_t seeds) {
  std::vector<double> returns(static_cast<std::size_t>(seeds));
  parallel_for(seeds, [&](std::int64_t i) {
    const auto seed = static_cast<std::uint64_t>(i);
    ControlAgent agent(training.options, *training.environment, seed);
    while (agent.total_steps() < steps) agent.iterate();
    returns[static_cast<std::size_t>(i)] = return_apart(agent, *training.environment, seed);
  });
  return returns;
}

struct Goal {
  std::string task;
  Learner learner;
  std::int64_t steps;
  double goal;         ///< least mean return of an evaluation
  std::int64_t seeds;  ///< from 0 on
  std::int64_t least;  ///< that have to reach it
  PolicyPosterior posterior = PolicyPosterior::none;
};

}  // namespace

// Untrained policies get −147 to −500 (Acrobot-v1), about −1,200 (Pendulum-v1), −200 (cartpole-swingup), 1
// (cartpole-swingup-dm) and 90 (InvertedDoublePendulum); none of six came near its goal. Behind each line stands how
// many of so many seeds reached the goal: `stein rl --env TASK --agent AGENT --set steps=STEPS final_episodes=20
// --seeds 0:20`, or 0:10, and 1000:1010; those of the test begin at 0. Seeds are fixed: a failure says
// that a change of the code has changed what they do. Behind the rates stands how likely other random numbers alone
// would do it, were a seed to miss its goal with probability (misses + 1)/(seeds + 2). Goals are what short trainings
// reach; what long ones do stands in docs/results/control_goals.md. With a prior around 0, alpha = 0.01 and 4
// minibatches Stein PPO stayed below −1,100 on Pendulum-v1. PPO on cartpole-swingup-dm is the last test. Of
// cartpole-swingup A2C learns to stay on the track and to turn the pole, not to hold it up.
TEST_CASE("A2C and PPO learn five tasks with their defaults, of rllab's swing-up A2C little, Stein PPO one of them",
          "[agents][learning][slow]") {
  const Goal goal = GENERATE(values<Goal>({
      {"Acrobot-v1", Learner::a2c, 300'000, -100, 4, 3},                           // 20 of 20: .012
      {"Acrobot-v1", Learner::ppo, 200'000, -100, 4, 3},                           // 20 of 20: .012
      {"Pendulum-v1", Learner::a2c, 1'000'000, -250, 4, 2},                        // 27 of 30: .007
      {"Pendulum-v1", Learner::ppo, 300'000, -250, 4, 3},                          // 20 of 20: .012
      {"Pendulum-v1", Learner::ppo, 300'000, -300, 2, 1, PolicyPosterior::svgd},   // 10 of 10: .007
      {"Pendulum-v1", Learner::ppo, 300'000, -300, 2, 1, PolicyPosterior::s2vgd},  // 10 of 10: .007
      {"cartpole-swingup", Learner::ppo, 500'000, 60, 4, 2},                       // 17 of 20: .020
      {"cartpole-swingup", Learner::a2c, 500'000, -20, 2, 1},                      // 29 of 30: .004
      {"cartpole-swingup-dm", Learner::a2c, 1'000'000, 100, 2, 1},                 // 10 of 10: .007
      {"InvertedDoublePendulum", Learner::ppo, 200'000, 500, 2, 1},                // 19 of 20: .008
      {"InvertedDoublePendulum", Learner::a2c, 500'000, 400, 2, 1},                // 20 of 20: .002
  }));
  const Training training(goal.task, goal.learner, goal.steps, goal.posterior);
  const std::vector<double> returns = returns_of(training, goal.steps, goal.seeds);
  CAPTURE(goal.task, static_cast<int>(goal.learner), static_cast<int>(goal.posterior), returns);
  CHECK(std::ranges::count_if(returns, [&](double value) { return value >= goal.goal; }) >= goal.least);
}

// After 4 M steps all of ten seeds are beyond 400 (docs/results/control_goals.md); after the million that a test has
// time for seven of ten are (`stein rl --env cartpole-swingup --agent ppo --preset tuned --set steps=1000000
// final_episodes=20 --seeds 0:10`), and none of ten with the defaults, whose best swing round. Were a seed to miss
// with probability 4/12, all four would in 1.2 % of all runs.
TEST_CASE("with its preset tuned PPO swings rllab's pole up and holds it there", "[agents][learning][slow]") {
  constexpr std::int64_t steps = 1'000'000;
  Training training("cartpole-swingup", Learner::ppo, steps);
  apply("tuned", task_presets("cartpole-swingup", "ppo"), training.options);
  const std::vector<double> returns = returns_of(training, steps, 4);
  CAPTURE(returns);
  CHECK(std::ranges::max(returns) >= 400);
}

// The treasure of deep-sea lies at the end of one path of twenty steps that all cost a little. Of twenty seeds all
// particles together got there in .30 to .94 of the episodes after 100,000 steps, and one policy in none (`stein rl
// --env deep-sea --agent ppo --set size=20 steps=100000 final_episodes=20 --seeds 0:20`, with `--posterior svgd
// --preset explore` or without). Were a seed to do otherwise with probability 1/22, two of three would in .6 % of all
// runs, of either.
TEST_CASE("particles that start apart and share rollouts find a treasure in the deep sea where one policy does not",
          "[agents][learning][slow]") {
  constexpr std::int64_t steps = 100'000, seeds = 3;
  const auto found = [&](PolicyPosterior posterior, double share) {
    Training training("deep-sea", Learner::ppo, steps, posterior);
    OptionTable::of(*training.environment).set("size", "20");
    if (posterior == PolicyPosterior::svgd)
      apply("explore", OptionTable::of(training.options).presets(), training.options);
    const std::vector<double> returns = returns_of(training, steps, seeds);
    CAPTURE(returns);
    return std::ranges::count_if(returns, [&](double value) { return value >= share; });
  };
  CHECK(found(PolicyPosterior::svgd, .25) >= 2);
  CHECK(found(PolicyPosterior::none, .05) <= 1);
}

// Of twenty seeds all reached 700 and ended at 99 % or more of the best of their ten evaluations (`stein rl --env
// cartpole-swingup-dm --agent ppo --set steps=1000000 evaluate_every=100000 --seeds 0:20`); were a seed to do otherwise
// with probability 1/22, two of three would in .6 % of all runs. With target_kl=0 and staggered=false one of twenty
// ended at 68 % (100 to 119), and after 2,000,000 steps three of ten below 67 % (1000 to 1009).
TEST_CASE("what PPO has learned on cartpole-swingup-dm it has at the end of training", "[agents][learning][slow]") {
  constexpr std::int64_t steps = 1'000'000, looks = 10, seeds = 3;
  const Training training("cartpole-swingup-dm", Learner::ppo, steps);
  std::vector<std::vector<double>> returns(seeds);
  parallel_for(seeds, [&](std::int64_t i) {
    const auto seed = static_cast<std::uint64_t>(i);
    ControlAgent agent(training.options, *training.environment, seed);
    for (std::int64_t look = 1; look <= looks; ++look) {
      while (agent.total_steps() < look * steps / looks) agent.iterate();
      returns[static_cast<std::size_t>(i)].push_back(
          return_apart(agent, *training.environment, seed + 100 * static_cast<std::uint64_t>(look)));
    }
  });
  const auto kept = [](const std::vector<double>& of_seed) {
    return of_seed.back() >= 700 && of_seed.back() >= 0.9 * std::ranges::max(of_seed);
  };
  CAPTURE(returns);
  CHECK(std::ranges::count_if(returns, kept) >= 2);
}
