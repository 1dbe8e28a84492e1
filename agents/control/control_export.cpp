#include <stein/agents/control/control_export.h>
#include <stein/core/safetensors.h>
#include <stein/core/version.h>
#include <stein/envs/action_bounds.h>
#include <stein/inference/entry_view.h>

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace stein::agents {
namespace {

using Json = nlohmann::ordered_json;

/// Every parameter of the networks under its name, particle after particle; deviations that no observation moves as
/// they are. @returns how many numbers
std::int64_t put_networks(const policies::ControlPolicy& policy, Snapshot& to) {
  const std::int64_t particles = policy.particle_count();
  const float start = policy.distribution().row_draw().start;
  std::int64_t written = 0;
  for (const inference::LayoutEntry& entry : policy.weight_layout().entries()) {
    const bool deviations = entry.name == "constants";
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < particles; ++i)
      for (const float own : inference::entry_numbers(policy.weights().row(i), entry))
        numbers.push_back(deviations ? policies::bounded_log_deviation(own, start) : own);
    std::vector<std::int64_t> shape{particles};
    shape.insert(shape.end(), entry.shape.begin(), entry.shape.end());
    to.put(deviations ? "action.log_deviation" : entry.name, std::span<const float>(numbers), shape);
    written += std::ssize(numbers);
  }
  return written;
}

void put_observation_units(const policies::ControlPolicy& policy, Snapshot& to) {
  std::vector<float> means, scales;
  for (const policies::ColumnUnit& unit : policy.observation_units()) {
    means.push_back(unit.mean);
    scales.push_back(unit.scale);
  }
  if (means.empty()) return;
  to.put("observation.mean", means);
  to.put("observation.scale", scales);
}

void put_action_bounds(const envs::ControlSpec& spec, Snapshot& to) {
  if (spec.discrete()) return;
  std::vector<float> low, high;
  for (const envs::Quantity& action : spec.action) {
    low.push_back(static_cast<float>(action.low));
    high.push_back(static_cast<float>(action.high));
  }
  to.put("action.low", low);
  to.put("action.high", high);
}

/// What the numbers that a network puts out are.
std::string_view outputs_of(const policies::ControlPolicy& policy) {
  const policies::ActionDraw draw = policy.distribution().row_draw();
  if (draw.choices > 0) return "logits";
  return draw.deviation_moves ? "means, then log deviations" : "means";
}

}  // namespace

void ControlExport::describe(OptionTable& table) {
  table("to", file_, "the file: a path that ends in .safetensors");
  table("seed", seed_, "whose policies: a seed of the run; -1: its first", between(-1, 9e15));
}

void ControlExport::check_experiment(const ControlExperiment&) const {
  check_safetensors_path(file_, "--to");
}

Json ControlExport::perform_on(const ControlExperiment& experiment, ControlRun& run, const RunDirectory&,
                               const runs::Console&) {
  const ControlAgent& agent = run.agent_of(seed_);
  const policies::ControlPolicy& policy = agent.policy();
  const auto environment = experiment.environment_builder().make(1);
  Snapshot file;
  const std::int64_t written = put_networks(policy, file);
  put_observation_units(policy, file);
  put_action_bounds(environment->spec(), file);
  const bool maps = environment->action_bounds().maps();
  SafetensorsMetadata facts{{"activation", policy.activation() == inference::Activation::tanh ? "tanh" : "relu"},
                            {"actions", maps ? "from [-1, 1] to [action.low, action.high]" : "as they are"},
                            {"agent", experiment.agent()},
                            {"env", experiment.environment()},
                            {"env_version", fmt::format("{}", environment->spec().version)},
                            {"outputs", std::string(outputs_of(policy))},
                            {"posterior", experiment.posterior()},
                            {"run", experiment.name()},
                            {"seed", fmt::format("{}", agent.seed())},
                            {"steps", fmt::format("{}", agent.total_steps())},
                            {"stein", std::string(version())}};
  if (const policies::ActionDraw draw = policy.distribution().row_draw(); draw.deviation_moves)
    facts.emplace("log_deviation_at_0", fmt::format("{}", draw.start));
  write_safetensors(file_, file, facts);
  return {{"file", file_},
          {"seed", agent.seed()},
          {"particles", policy.particle_count()},
          {"parameters", written},
          {"bytes", static_cast<std::int64_t>(std::filesystem::file_size(file_))}};
}

std::string ControlExport::readable(const Json& result) const {
  return fmt::format("{}: {} numbers of {} {} of seed {}, {:.2f} MB\n", result["file"].get<std::string>(),
                     result["parameters"].get<std::int64_t>(), result["particles"].get<std::int64_t>(),
                     result["particles"] == 1 ? "policy" : "policies", result["seed"].get<std::uint64_t>(),
                     result["bytes"].get<double>() / 1e6);
}

}  // namespace stein::agents
