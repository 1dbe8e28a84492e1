// Policies and environments together: 16 particles play, nobody learns.
#include <stein/agents/control/rollouts.h>
#include <stein/bench/allocation_count.h>
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/control_case.h>
#include <stein/core/parallel.h>

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

/// Collections of one environment under networks 25-10.
class Player {
 public:
  Player(const ControlCase& which, const RolloutOptions& options, inference::Arithmetic arithmetic)
      : environment_(make_environment(which)),
        policy_(policy_options(which, options, environment_->spec().discrete(), arithmetic), environment_->spec(), 1),
        rollouts_(*environment_, {.particles = options.particles, .slots = options.slots, .steps = options.steps}, 1) {}
  void collect() { rollouts_.collect(policy_); }

 private:
  static policies::ControlPolicy::Options policy_options(const ControlCase& which, const RolloutOptions& options,
                                                         bool discrete, inference::Arithmetic arithmetic) {
    policies::ControlPolicy::Options policy = options_of(which, discrete, arithmetic).policy;
    policy.particles = options.particles;
    return policy;
  }

  std::unique_ptr<envs::ControlEntry::Builder> environment_;
  policies::ControlPolicy policy_;
  agents::Rollouts rollouts_;
};

Row measure_environment(const std::string& name, const RolloutOptions& options, int threads) {
  const int before = thread_count();
  set_thread_count(threads);
  const ControlCase which{.environment = name};
  Player ours(which, options, inference::Arithmetic::fused),
      reference(which, options, inference::Arithmetic::reference);
  const auto collect = [&] { ours.collect(); };
  const Pair seconds = measure_pair(collect, [&] { reference.collect(); });
  const auto steps = static_cast<double>(options.particles * options.slots * options.steps);
  Row row{.name = threads == 1 ? name + "-one-core" : name,
          .ours = steps / seconds.ours,
          .reference = steps / seconds.reference,
          .unit = "agent steps/s",
          .better = Better::higher,
          .extra = {{"reference_is", "LibTorch forward passes, the same environments"},
                    {"threads", static_cast<double>(threads)},
                    {"ns_per_step", seconds.ours / steps * 1e9}}};
  if (const auto count = allocations_in(collect)) row.extra.emplace_back("allocations", static_cast<double>(*count));
  set_thread_count(before);
  return row;
}

std::vector<Row> measure(const RolloutOptions& options) {
  const int all = thread_count();
  std::vector<Row> rows;
  for (const char* name : {"CartPole-v1", "cartpole", "cartpole-swingup", "double-pendulum"}) {
    rows.push_back(measure_environment(name, options, 1));
    if (all > 1) rows.push_back(measure_environment(name, options, all));
  }
  return rows;
}

[[maybe_unused]] const bool registered = torch_measures().add("rollout", Measure::of(measure));

}  // namespace
}  // namespace stein::bench
