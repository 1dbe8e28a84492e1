#include <stein/agents/control/control_agent.h>
#include <stein/bench/agents_gpu.h>
#include <stein/bench/gpu.h>
#include <stein/inference/storage/device_memory.h>

namespace stein::bench {
namespace {

using namespace stein::agents;
using inference::Device;

constexpr std::uint64_t seed = 3;

struct AgentsOptions {
  std::int64_t slots = 65'536, slots_of_reference = 4'096, particles = 16, paths = 10;
  std::string device = "cuda";

  template <class V>
  void describe(V& v) {
    v("slots", slots, "of A2C on the GPU", between(1, 1e7));
    v("slots_of_reference", slots_of_reference, "of A2C on the processor", between(1, 1e6));
    v("particles", particles, "of Stein policy gradient", between(2, 1000));
    v("paths", paths, "whole paths of 500 steps of each particle in an iteration", between(1, 1e4));
    v("device", device, "the GPU: cuda, or cuda:INDEX");
  }
};

ControlAgentOptions a2c(std::int64_t slots) {
  ControlAgentOptions options = default_options(Learner::a2c, PolicyPosterior::none, /*discrete=*/true);
  options.slots = slots, options.steps = 16;
  return options;
}

ControlAgentOptions stein_policy_gradient(const AgentSizes& sizes) {
  ControlAgentOptions options = earlier_options(Learner::reinforce, PolicyPosterior::svgd, /*discrete=*/false);
  options.particles = sizes.particles, options.slots = sizes.paths, options.steps = 500;
  return options;
}

/// A row of two agents on one task, after one iteration of each.
Row row_of(const std::string& name, const std::string& task, const ControlAgentOptions& ours_options,
           const ControlAgentOptions& reference_options, Device device, const PairSettings& settings) {
  const auto builder = envs::controls().at(task).builder();
  ControlAgent ours(ours_options, *builder, seed, device), reference(reference_options, *builder, seed);
  ours.iterate(), reference.iterate();
  const Pair seconds = measure_pair([&] { ours.iterate(); }, [&] { reference.iterate(); }, settings);
  const auto ours_steps = static_cast<double>(ours.steps_per_iteration()),
             reference_steps = static_cast<double>(reference.steps_per_iteration());
  return {.name = name,
          .ours = ours_steps / seconds.ours,
          .reference = reference_steps / seconds.reference,
          .unit = "steps/s",
          .better = Better::higher,
          .extra = {{"reference_is", "the same agent on all cores"},
                    {"device", inference::device_memory(device.kind).model(device.index)},
                    {"task", task},
                    {"steps_an_iteration", ours_steps},
                    {"steps_an_iteration_of_reference", reference_steps},
                    {"milliseconds_an_iteration", 1e3 * seconds.ours}}};
}

std::vector<Row> measure_agents(const AgentsOptions& options) {
  return measure_agents_on(gpu_named(options.device, "a2c"),
                           {options.slots, options.slots_of_reference, options.particles, options.paths});
}

[[maybe_unused]] const bool registered =
    register_benchmark("agents-gpu", "agent steps a second on a GPU of whole iterations: collecting and learning",
                       measure_agents, Cores::all, check_gpu);

}  // namespace

std::vector<Row> measure_agents_on(Device device, const AgentSizes& sizes, const PairSettings& settings) {
  check_present(device);
  return {
      row_of("a2c", "CartPole-v1", a2c(sizes.slots), a2c(sizes.slots_of_reference), device, settings),
      row_of("svpg", "cartpole-swingup", stein_policy_gradient(sizes), stein_policy_gradient(sizes), device, settings)};
}

}  // namespace stein::bench
