// Policies and environments together: 16 particles play, nobody learns.
#include <stein/agents/control/rollouts.h>
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/batched_rollouts.h>
#include <stein/bench/torch/control_case.h>
#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/torch/tensor_threads.h>

#include <algorithm>

namespace stein::bench {
namespace {

struct RolloutOptions {
  std::int64_t particles = 16;
  std::int64_t slots = 32;
  std::int64_t steps = 128;

  template <class V>
  void describe(V& v) {
    v("particles", particles, "policies that play", between(1, 1000));
    v("slots", slots, "environments of each", between(1, 1e5));
    v("steps", steps, "steps of each in a collection", between(1, 1e5));
  }
};

policies::ControlPolicy::Options policy_options(const ControlCase& which, const RolloutOptions& options,
                                                bool discrete) {
  policies::ControlPolicy::Options policy = options_of(which, discrete, inference::Arithmetic::fused).policy;
  policy.particles = options.particles;
  return policy;
}

/// Throws Error(numeric) unless both collect the same, as long as rounding stays rounding.
void check_same(const agents::Rollouts& ours, const BatchedRollouts& reference) {
  const double apart = largest_difference(ours, reference, std::min<std::int64_t>(ours.shape().steps, 16));
  if (!(apart < 1e-4)) fail(ErrorKind::numeric, "benchmark rollout: ours and the reference differ by {:.2g}", apart);
}

Row measure_environment(const std::string& name, const RolloutOptions& options, int threads) {
  const int before = thread_count();
  set_thread_count(threads);
  const ControlCase which{.environment = name};
  const auto environment = make_environment(which);
  const policies::ControlPolicy::Options policy_of_case =
      policy_options(which, options, environment->spec().discrete());
  const policies::ControlPolicy policy(policy_of_case, environment->spec(), 1);
  const agents::RolloutShape shape{.particles = options.particles, .slots = options.slots, .steps = options.steps};
  agents::Rollouts ours(*environment, shape, 1);
  BatchedRollouts reference(*environment, shape, policy_of_case.hidden, policy_of_case.initial_deviation, 1);
  const BatchedNetwork network(policy.particles().layout(), policy.particles().values());
  inference::set_tensor_threads(1);
  ours.collect(policy), reference.collect(network);
  check_same(ours, reference);
  const auto collect = [&] { ours.collect(policy); };
  const Pair seconds = measure_pair(collect, [&] { reference.collect(network); });
  const auto steps = static_cast<double>(options.particles * options.slots * options.steps);
  Row row{
      .name = threads == 1 ? name + "-one-core" : name,
      .ours = steps / seconds.ours,
      .reference = steps / seconds.reference,
      .unit = "agent steps/s",
      .better = Better::higher,
      .extra = {{"reference_is", "LibTorch forward passes, batched over particles and slots, the same environments"},
                {"threads", static_cast<double>(threads)},
                {"ns_per_step", seconds.ours / steps * 1e9}}};
  if (const auto count = allocations_in(collect)) row.extra.emplace_back("allocations", static_cast<double>(*count));
  set_thread_count(before);
  return row;
}

std::vector<Row> measure_rollout(const RolloutOptions& options) {
  const int all = thread_count();
  std::vector<Row> rows;
  for (const char* name : {"CartPole-v1", "cartpole", "cartpole-swingup", "double-pendulum"}) {
    rows.push_back(measure_environment(name, options, 1));
    if (all > 1) rows.push_back(measure_environment(name, options, all));
  }
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("rollout", Measure::of(measure_rollout));

}  // namespace
}  // namespace stein::bench
