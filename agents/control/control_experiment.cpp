#include <fmt/ranges.h>
#include <stein/agents/control/control_experiment.h>
#include <stein/agents/control/task_presets.h>
#include <stein/core/error.h>
#include <stein/envs/bandit_environment.h>
#include <stein/inference/storage/device_memory.h>
#include <stein/runs/run_kind.h>
#include <stein/runs/single_name.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stein::agents {
namespace {

/// Whether every action is a number between two bounds.
bool has_bounds(const envs::ControlSpec& spec) {
  return !spec.discrete() && std::ranges::all_of(spec.action, [](const envs::Quantity& action) {
    return std::isfinite(action.low) && std::isfinite(action.high);
  });
}

void add_posteriors(std::vector<runs::Part>& parts, Learner learner, bool discrete) {
  for (const auto& [name, entry] : policy_posteriors().entries()) {
    ControlAgentOptions options = default_options(learner, entry.posterior, discrete);
    parts.push_back(runs::make_part("posterior", name, entry.description, OptionTable::of(options)));
  }
}

void add_agents(std::vector<runs::Part>& parts, PolicyPosterior posterior, bool discrete) {
  for (const auto& [name, entry] : control_agents().entries()) {
    ControlAgentOptions options = default_options(entry.learner, posterior, discrete);
    parts.push_back(runs::make_part("agent", name, entry.description, OptionTable::of(options)));
  }
}

/// Adds the presets of a task and an agent, which are for the posterior `none` alone, to those of `part`.
void add_task_presets(runs::Part& part, const std::string& environment, const std::string& agent) {
  for (Preset& preset : task_presets(environment, agent)) {
    preset.description = fmt::format("with agent {} and posterior none: {}", agent, preset.description);
    part.presets.push_back(std::move(preset));
  }
}

}  // namespace

ControlExperiment::ControlExperiment(const runs::RunKind& kind, const runs::OptionSources& sources)
    : Experiment(kind, {.steps = 300'000,
                        .checkpoint_every = 100'000,
                        .note = fmt::format(", all particles together; evaluate_every is 1/{} of it unless set",
                                            evaluations)}) {
  const std::string environment = runs::look_ahead_single(sources, "env", environment_);
  const std::string agent = runs::look_ahead_single(sources, "agent", agent_name_);
  const std::string posterior = runs::look_ahead_single(sources, "posterior", posterior_);
  STEIN_CHECK(!envs::bandits().entries().contains(environment),
              "'{0}' is a bandit, not a control task: `stein bandit --env {0}` plays it", environment);
  environment_builder_ = envs::controls().at(environment).builder();
  const envs::ControlSpec spec = environment_builder_->spec();
  agent_ =
      default_options(control_agents().at(agent).learner, policy_posteriors().at(posterior).posterior, spec.discrete());
  // A policy starts with a deviation of 1, which should mean much the same in all tasks.
  if (has_bounds(spec)) OptionTable::of(*environment_builder_).set("normalize_actions", "true");
  evaluation_.evaluate_every = steps() / evaluations;
  add_run([this](OptionTable& table) {
    table("env", environment_, "the control task; `stein list` names them");
    table("agent", agent_name_, fmt::format("how policies learn: {}", fmt::join(control_agents().names(), ", ")));
    table("posterior", posterior_, fmt::format("over policies: {}", fmt::join(policy_posteriors().names(), ", ")));
    table("device", device_,
          "where the agent plays and learns: cpu, cuda (the first GPU; of several ranks on a machine each its own) or "
          "cuda:INDEX; advantages, measures and evaluations are made on the processor")
        .in_older_runs("cpu");
  });
  add_part("Evaluation", [this](OptionTable& table) { evaluation_.describe(table); });
  add_part(fmt::format("Learning, {} with posterior {}", agent, posterior),
           [this](OptionTable& table) { agent_.describe(table); });
  add_part("Environment " + environment, [this](OptionTable& table) { environment_builder_->describe(table); });
  environment_ = environment;
  agent_name_ = agent;
  posterior_ = posterior;
  if (posterior == default_posterior)
    for (const Preset& preset : task_presets(environment, agent)) offer_preset(preset);
  read(sources);
  static_cast<void>(inference::parse_device(device_));
  if (agent_.decay_steps > 0 && !sources.mention("decay_steps")) agent_.decay_steps = steps();
  if (!sources.mention("evaluate_every")) evaluation_.evaluate_every = std::max<std::int64_t>(1, steps() / evaluations);
}

std::vector<runs::Part> ControlExperiment::other_parts() const {
  const bool discrete = environment_builder_->spec().discrete();
  std::vector<runs::Part> parts;
  add_posteriors(parts, agent_.learner, discrete);
  add_agents(parts, agent_.posterior, discrete);
  runs::add_parts(parts, "environment", envs::controls());
  for (runs::Part& part : parts) {
    if (part.group == "posterior" && part.name == default_posterior) add_task_presets(part, environment_, agent_name_);
    if (posterior_ != default_posterior) continue;
    if (part.group == "agent") add_task_presets(part, environment_, part.name);
    if (part.group == "environment") add_task_presets(part, part.name, agent_name_);
  }
  return parts;
}

std::vector<runs::Part> control_parts() {
  ControlEvaluationOptions evaluation;
  std::vector<runs::Part> parts{runs::make_part(
      "evaluation", "", "A run sets `evaluate_every` by its `steps`, see there.", OptionTable::of(evaluation))};
  add_agents(parts, PolicyPosterior::s2vgd, false);  // all that a posterior and continuous actions add
  for (runs::Part& part : parts)
    if (part.group == "agent")
      part.description +=
          ". Defaults are those of posterior s2vgd and continuous actions; docs/control.md says how others differ, and "
          "`stein rl --agent NAME --posterior NAME --env NAME --help` has them";
  runs::add_parts(parts, "environment", envs::controls());
  for (runs::Part& part : parts)
    if (part.group == "environment")
      for (const auto& [agent, entry] : control_agents().entries()) add_task_presets(part, part.name, agent);
  return parts;
}

std::string ControlExperiment::name() const {
  return fmt::format("{}/{}{}", environment_, agent_name_,
                     posterior_ == default_posterior ? "" : fmt::format("-{}", posterior_));
}

std::int64_t ControlExperiment::horizon() const {
  const std::string given = options().get("horizon");
  std::int64_t steps = 0;
  std::from_chars(given.data(), given.data() + given.size(), steps);
  return steps;
}

std::unique_ptr<runs::Run> ControlExperiment::make_run(const std::string&) const {
  const inference::Device device = inference::own_device(device_);
  inference::check_present(device);
  const auto make_agent = [&](std::uint64_t seed) {
    return std::make_unique<ControlAgent>(agent_, *environment_builder_, seed, device);
  };
  return std::make_unique<ControlRun>(seeds(), make_agent, *environment_builder_, evaluation_,
                                      ControlRun::Facts{.environment = environment_,
                                                        .agent = agent_name_,
                                                        .posterior = posterior_,
                                                        .preset = preset(),
                                                        .environment_options = values_of("Environment " + environment_),
                                                        .horizon = horizon(),
                                                        .stein = is_stein(agent_.posterior),
                                                        .steps = steps()});
}

}  // namespace stein::agents
