#include "control_experiment.h"

#include <stein/core/error.h>
#include <stein/envs/bandit_environment.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "control_summary.h"
#include "recorded_control_run.h"

namespace stein::cli {
namespace {

/// Whether every action is a number between two bounds.
bool has_bounds(const envs::ControlSpec& spec) {
  return !spec.discrete() && std::ranges::all_of(spec.action, [](const envs::Quantity& action) {
    return std::isfinite(action.low) && std::isfinite(action.high);
  });
}

}  // namespace

ControlExperiment::ControlExperiment(const OptionSources& sources)
    : environment_(sources.look_ahead("env", default_environment)),
      agent_name_(sources.look_ahead("agent", default_agent)),
      posterior_(sources.look_ahead("posterior", default_posterior)) {
  STEIN_CHECK(!envs::bandits().entries().contains(environment_),
              "'{0}' is a bandit, not a control task: `stein bandit --env {0}` plays it", environment_);
  environment_builder_ = envs::controls().at(environment_).builder();
  const envs::ControlSpec spec = environment_builder_->spec();
  agent_ = agents::default_options(agents::control_agents().at(agent_name_).learner,
                                   agents::policy_posteriors().at(posterior_).posterior, spec.discrete());
  // A policy starts with a deviation of 1, which should mean much the same in all tasks.
  if (has_bounds(spec)) OptionTable::of(*environment_builder_).set("normalize_actions", "true");
  describe_run(table_);
  agent_.describe(table_);
  environment_builder_->describe(table_);
  check_names_differ(table_, name());
  refuse_options_of_others(
      sources, table_, [this] { return other_options(); }, name());
  sources.apply(table_);
  if (!sources.mention("evaluate_every")) evaluation_.evaluate_every = std::max<std::int64_t>(1, steps_ / evaluations);
  static_cast<void>(seeds());
}

OptionOwners ControlExperiment::other_options() const {
  const bool discrete = environment_builder_->spec().discrete();
  const agents::Learner learner = agents::control_agents().at(agent_name_).learner;
  const agents::PolicyPosterior posterior = agents::policy_posteriors().at(posterior_).posterior;
  OptionOwners owners;
  for (const auto& [other, entry] : agents::policy_posteriors().entries()) {
    agents::ControlAgentOptions options = agents::default_options(learner, entry.posterior, discrete);
    owners.emplace_back("posterior " + other, names_of(options));
  }
  for (const auto& [other, entry] : agents::control_agents().entries()) {
    agents::ControlAgentOptions options = agents::default_options(entry.learner, posterior, discrete);
    owners.emplace_back("agent " + other, names_of(options));
  }
  add_owners(owners, "environment", envs::controls());
  return owners;
}

std::string ControlExperiment::name() const {
  return fmt::format("{}/{}{}", environment_, agent_name_,
                     posterior_ == default_posterior ? "" : fmt::format("-{}", posterior_));
}

void ControlExperiment::describe_run(OptionTable& table) {
  table("env", environment_, "the control task; `stein list` names them");
  table("agent", agent_name_, "how the policies learn; `stein list` names them");
  table("posterior", posterior_, "over the policies; `stein list` names them");
  table("seeds", seeds_, "independent repetitions, A:B, without B");
  table("steps", steps_,
        fmt::format("length of every repetition, all particles together; evaluate_every is 1/{} of it unless set",
                    evaluations),
        between(1, 1e12), "environment steps");
  table("checkpoint_every", checkpoint_every_, "what a killed run loses at most", between(1, 1e12),
        "environment steps");
  evaluation_.describe(table);
}

std::map<std::string, std::string> ControlExperiment::environment_options() const {
  return values_of(*environment_builder_);
}

std::int64_t ControlExperiment::horizon() const {
  const std::string given = table_.get("horizon");
  std::int64_t steps = 0;
  std::from_chars(given.data(), given.data() + given.size(), steps);
  return steps;
}

Sections ControlExperiment::sections() {
  Sections sections{{"Run", {}},
                    {fmt::format("Learning, {} with posterior {}", agent_name_, posterior_), {}},
                    {"Environment " + environment_, {}}};
  describe_run(sections[0].second);
  agent_.describe(sections[1].second);
  environment_builder_->describe(sections[2].second);
  return sections;
}

void ControlExperiment::show_default_names() {
  environment_ = default_environment;
  agent_name_ = default_agent;
  posterior_ = default_posterior;
}

std::string ControlExperiment::help() const {
  ControlExperiment shown({.toml = "",
                           .toml_name = "",
                           .settings = {{"env", environment_}, {"agent", agent_name_}, {"posterior", posterior_}}});
  const Sections sections = shown.sections();
  shown.show_default_names();
  return help_text(sections);
}

std::unique_ptr<agents::ControlRun> ControlExperiment::make_control_run() const {
  const auto make_agent = [&](std::uint64_t seed) {
    return std::make_unique<agents::ControlAgent>(agent_, *environment_builder_, seed);
  };
  return std::make_unique<agents::ControlRun>(seeds().first, seeds().end, make_agent, *environment_builder_,
                                              evaluation_);
}

std::unique_ptr<RecordedRun> ControlExperiment::make_run(const std::string&) const {
  return std::make_unique<RecordedControlRun>(*this, make_control_run());
}

std::string ControlExperiment::readable(const nlohmann::ordered_json& summary) const {
  return readable_control_summary(summary);
}

}  // namespace stein::cli
