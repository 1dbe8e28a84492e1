// A control experiment as a person describes it: an environment, an agent, a posterior over its policies, seeds, and
// the options of all its parts under one roof.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/control_run.h>
#include <stein/envs/vector_environment.h>

#include "experiment.h"

namespace stein::cli {

/// Options are flat: those of the run, the agent and the environment stand side by side, and no name may occur twice.
/// Which options an agent has depends on the posterior and on whether actions are choices.
class ControlExperiment final : public Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  explicit ControlExperiment(const OptionSources& sources);
  ControlExperiment(const ControlExperiment&) = delete;
  ControlExperiment& operator=(const ControlExperiment&) = delete;

  const char* command() const override { return "rl"; }
  const char* unit() const override { return "steps"; }
  std::string name() const override;
  SeedRange seeds() const override { return SeedRange::parse(seeds_); }
  std::int64_t steps() const override { return steps_; }
  std::int64_t checkpoint_every() const override { return checkpoint_every_; }
  const OptionTable& options() const override { return table_; }
  std::unique_ptr<RecordedRun> make_run(const std::string& data) const override;
  std::string readable(const nlohmann::ordered_json& summary) const override;

  const std::string& environment() const { return environment_; }
  const std::string& agent() const { return agent_name_; }
  const std::string& posterior() const { return posterior_; }
  const envs::ControlEntry::Builder& environment_builder() const { return *environment_builder_; }
  const agents::ControlAgentOptions& agent_options() const { return agent_; }
  /// What distinguishes this task from others of its name: its options and their values.
  std::map<std::string, std::string> environment_options() const;
  /// Steps after which an episode is truncated.
  std::int64_t horizon() const;
  /// Agents ready for their first step, which must not outlive this object.
  std::unique_ptr<agents::ControlRun> make_control_run() const;
  /// The options in three parts with a heading each: run, learning, environment. The tables are bound to this object.
  Sections sections();
  /// From now on the options env, agent and posterior show what the program would take, not what was asked about.
  void show_default_names();
  /// The options with headings and defaults, for `--help`.
  std::string help() const;

 private:
  void describe_run(OptionTable& table);
  /// Of everything that could stand in place of agent, posterior and environment.
  OptionOwners other_options() const;

  static constexpr const char* default_environment = "CartPole-v1";
  static constexpr const char* default_agent = "a2c";
  static constexpr const char* default_posterior = "none";

  std::string environment_, agent_name_, posterior_;
  std::string seeds_ = "0:1";
  std::int64_t steps_ = 300'000;
  std::int64_t checkpoint_every_ = 100'000;
  agents::ControlEvaluationOptions evaluation_{.evaluate_every = steps_ / evaluations};
  agents::ControlAgentOptions agent_;
  std::unique_ptr<envs::ControlEntry::Builder> environment_builder_;
  OptionTable table_;

  /// In a run, unless `evaluate_every` is set.
  static constexpr std::int64_t evaluations = 50;
};

}  // namespace stein::cli
