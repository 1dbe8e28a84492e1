// One iteration of Stein variational policy gradient: 16 particles play 5,000 steps each, and all of them move.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/batched_agent.h>
#include <stein/bench/torch/control_case.h>
#include <stein/bench/torch/mushroom_case.h>
#include <stein/core/error.h>

namespace stein::bench {
namespace {

/// One iteration of each a round: policies that have learned play longer paths, so both must have learned as much.
constexpr PairSettings svpg_settings{.rounds = 15, .round_seconds = 0, .warm_up_seconds = 1e-9};

/// Throws Error(numeric) unless both learn the same from short paths: long ones magnify rounding until they are others.
void check_same(const ControlCase& which) {
  const auto environment = make_environment(which);
  OptionTable table;
  environment->describe(table);
  table.set("horizon", "20");
  agents::ControlAgent ours(options_of(which, false, inference::Arithmetic::fused), *environment, 1);
  BatchedAgent reference(options_of(which, false, inference::Arithmetic::reference), *environment, 1);
  const double apart = difference_after(2, ours, reference);
  if (!(apart < 1e-3))
    fail(ErrorKind::numeric, "benchmark svpg: ours and the reference differ by {:.2g} of their way", apart);
}

Row measure_posterior(const std::string& name, agents::PolicyPosterior posterior) {
  const ControlCase which{.environment = "cartpole-swingup",
                          .learner = agents::Learner::reinforce,
                          .posterior = posterior,
                          .settings = {{"slots", "10"}, {"steps_per_slot", "500"}}};
  check_same(which);
  const auto environment = make_environment(which);
  agents::ControlAgent ours(options_of(which, false, inference::Arithmetic::fused), *environment, 1);
  BatchedAgent reference(options_of(which, false, inference::Arithmetic::reference), *environment, 1);
  const TensorPair pair = measure_tensor_pair([&] { ours.iterate(); }, [&] { reference.iterate(); }, svpg_settings);
  return {.name = name,
          .ours = pair.seconds.ours,
          .reference = pair.seconds.reference,
          .unit = "s",
          .extra = {{"reference_is", "the same agent on LibTorch, batched over particles and slots, autograd"},
                    {"reference_threads", static_cast<double>(pair.threads)},
                    {"steps", static_cast<double>(ours.steps_per_iteration())}}};
}

std::vector<Row> measure_svpg(const NoOptions&) {
  return {measure_posterior("svgd", agents::PolicyPosterior::svgd),
          measure_posterior("s2vgd", agents::PolicyPosterior::s2vgd)};
}

[[maybe_unused]] const bool registered = torch_measures().add("svpg", Measure::of(measure_svpg));

}  // namespace
}  // namespace stein::bench
