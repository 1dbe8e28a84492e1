// The batched references of `stein bench rollout` and `svpg` do what ours does, from the same random numbers.
#include <stein/bench/torch/batched_agent.h>
#include <stein/bench/torch/batched_rollouts.h>
#include <stein/bench/torch/control_case.h>
#include <stein/core/parallel.h>
#include <stein/torch/tensor_threads.h>

#include <catch2/catch.hpp>

using namespace stein;
using namespace stein::bench;

namespace {

/// Runs `body` with this many threads.
template <class Body>
void with_threads(int count, const Body& body) {
  const int before = thread_count();
  set_thread_count(count);
  body();
  set_thread_count(before);
}

/// Episodes last 20 steps at most, so that rounding stays rounding.
std::unique_ptr<envs::ControlEntry::Builder> short_paths(const ControlCase& which) {
  auto environment = make_environment(which);
  OptionTable table;
  environment->describe(table);
  table.set("horizon", "20");
  return environment;
}

}  // namespace

TEST_CASE("batched rollouts are the rollouts of every particle, with one group and with several", "[bench]") {
  inference::set_tensor_threads(1);
  const std::string name = GENERATE("CartPole-v1", "cartpole", "cartpole-swingup", "double-pendulum", "Acrobot-v1");
  const bool whole_paths = GENERATE(false, true);
  const int threads = GENERATE(1, 2);
  CAPTURE(name, whole_paths, threads);
  with_threads(threads, [&] {
    const ControlCase which{.environment = name};
    const auto environment = short_paths(which);
    policies::ControlPolicy::Options options =
        options_of(which, environment->spec().discrete(), inference::Arithmetic::fused).policy;
    options.particles = 3;
    options.output_spread = 1;  // choices that are not all alike
    const policies::ControlPolicy policy(options, environment->spec(), 1);
    const agents::RolloutShape shape{.particles = 3, .slots = 7, .steps = 24, .whole_paths = whole_paths};
    agents::Rollouts ours(*environment, shape, 2);
    BatchedRollouts reference(*environment, shape, options.hidden, options.initial_deviation, 2);
    const BatchedNetwork network(policy.particles().layout(), policy.particles().values());
    for (int collection = 0; collection < 2; ++collection) {
      ours.collect(policy);
      reference.collect(network);
      std::int64_t steps = 0;
      for (const agents::RolloutShard& shard : ours.shards()) steps = std::max(steps, shard.steps);
      CHECK((threads == 1 && whole_paths ? reference.steps() == steps : reference.steps() >= shape.steps));
      CHECK(largest_difference(ours, reference, shape.steps) < 1e-5);
    }
  });
}

TEST_CASE("the batched agent learns what ours learns", "[bench]") {
  inference::set_tensor_threads(1);
  const auto posterior = GENERATE(agents::PolicyPosterior::svgd, agents::PolicyPosterior::s2vgd);
  const int threads = GENERATE(1, 2);
  CAPTURE(static_cast<int>(posterior), threads);
  with_threads(threads, [&] {
    const ControlCase which{.environment = "cartpole-swingup",
                            .learner = agents::Learner::reinforce,
                            .posterior = posterior,
                            .settings = {{"particles", "5"}, {"slots", "4"}, {"steps_per_slot", "50"}}};
    const auto environment = short_paths(which);
    agents::ControlAgent ours(options_of(which, false, inference::Arithmetic::fused), *environment, 3);
    BatchedAgent reference(options_of(which, false, inference::Arithmetic::reference), *environment, 3);
    CHECK(difference_after(1, ours, reference) < 1e-5);
    CHECK(difference_after(3, ours, reference) < 1e-4);
  });
}
