// A2C on CartPole-v1: steps a second at few and many slots, and how long it takes to solve the task.
#include <stein/agents/control/evaluation.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/control_case.h>
#include <stein/runs/seed_statistics.h>

#include <algorithm>
#include <chrono>

namespace stein::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct A2cOptions {
  std::int64_t seeds = 10;

  template <class V>
  void describe(V& v) {
    v("seeds", seeds, "repetitions of the whole training", between(1, 1000));
  }
};

Row measure_speed(std::int64_t slots) {
  const ControlCase which{.settings = {{"slots", std::to_string(slots)}}};
  const auto environment = make_environment(which);
  agents::ControlAgent ours(options_of(which, true, inference::Arithmetic::fused), *environment, 1),
      reference(options_of(which, true, inference::Arithmetic::reference), *environment, 1);
  const Pair seconds = measure_pair([&] { ours.iterate(); }, [&] { reference.iterate(); });
  const auto steps = static_cast<double>(ours.steps_per_iteration());
  return {.name = "CartPole-v1-" + std::to_string(slots) + "-slots",
          .ours = steps / seconds.ours,
          .reference = steps / seconds.reference,
          .unit = "steps/s",
          .better = Better::higher,
          .extra = {{"reference_is", "the same agent on LibTorch autograd"}, {"steps_per_update", steps}}};
}

/// What training took until an evaluation of 20 episodes, looked at every 2,000 steps, gave 475.
struct Solved {
  double seconds = 0, steps = 0;
};

Solved solve(std::uint64_t seed, inference::Arithmetic arithmetic) {
  constexpr std::int64_t every = 2000, most = 300'000, episodes = 20;
  const ControlCase which;
  const auto environment = make_environment(which);
  agents::ControlAgent agent(options_of(which, true, arithmetic), *environment, seed);
  Solved solved;
  for (std::int64_t next = every; agent.total_steps() < most;) {
    const Clock::time_point start = Clock::now();
    agent.iterate();
    solved.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    if (agent.total_steps() < next) continue;
    next += every;
    const auto played = agents::play_episodes(agent.policy(), *environment, std::vector<std::int64_t>(episodes, 0),
                                              {.seed = seed + static_cast<std::uint64_t>(next)});
    if (runs::mean(agents::returns_of(played)) >= environment->spec().threshold) break;
  }
  solved.steps = static_cast<double>(agent.total_steps());
  return solved;
}

Row measure_solving(std::int64_t seeds) {
  std::vector<double> ours, reference, steps;
  for (std::int64_t i = 0; i < seeds; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const Solved fused = solve(seed, inference::Arithmetic::fused);
    ours.push_back(fused.seconds), steps.push_back(fused.steps);
    reference.push_back(solve(seed, inference::Arithmetic::reference).seconds);
  }
  return {.name = "CartPole-v1-solved",
          .ours = runs::quantile(ours, 0.5),
          .reference = runs::quantile(reference, 0.5),
          .unit = "s",
          .extra = {{"reference_is", "the same agent on LibTorch autograd"},
                    {"seeds", static_cast<double>(seeds)},
                    {"median_steps", runs::quantile(steps, 0.5)},
                    {"most_steps", *std::ranges::max_element(steps)},
                    {"slowest_seconds", *std::ranges::max_element(ours)}}};
}

std::vector<Row> measure_a2c(const A2cOptions& options) {
  return {measure_speed(8), measure_speed(256), measure_solving(options.seeds)};
}

[[maybe_unused]] const bool registered = torch_measures().add("a2c", Measure::of(measure_a2c));

}  // namespace
}  // namespace stein::bench
