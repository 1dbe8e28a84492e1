// One iteration of Stein variational policy gradient: 16 particles play 5,000 steps each, and all of them move.
#include <stein/bench/benchmark.h>
#include <stein/bench/torch/control_case.h>

namespace stein::bench {
namespace {

Row measure_posterior(const std::string& name, agents::PolicyPosterior posterior) {
  const ControlCase which{.environment = "cartpole-swingup",
                          .learner = agents::Learner::reinforce,
                          .posterior = posterior,
                          .settings = {{"slots", "10"}, {"steps_per_slot", "500"}}};
  const auto environment = make_environment(which);
  agents::ControlAgent ours(options_of(which, false, inference::Arithmetic::fused), *environment, 1),
      reference(options_of(which, false, inference::Arithmetic::reference), *environment, 1);
  const Pair seconds = measure_pair([&] { ours.iterate(); }, [&] { reference.iterate(); });
  return {.name = name,
          .ours = seconds.ours,
          .reference = seconds.reference,
          .unit = "s",
          .extra = {{"reference_is", "the same agent on LibTorch autograd, the same environments"},
                    {"steps", static_cast<double>(ours.steps_per_iteration())}}};
}

std::vector<Row> measure(const NoOptions&) {
  return {measure_posterior("svgd", agents::PolicyPosterior::svgd),
          measure_posterior("s2vgd", agents::PolicyPosterior::s2vgd)};
}

[[maybe_unused]] const bool registered = torch_measures().add("svpg", Measure::of(measure));

}  // namespace
}  // namespace stein::bench
