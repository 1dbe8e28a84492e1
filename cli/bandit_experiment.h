// A bandit experiment as a person describes it: an environment, a policy, seeds, and the options of all its parts under
// one roof.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>
#include <stein/agents/bandits/bandit_run.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include "experiment.h"

namespace stein::cli {

/// Options are flat: those of the run, the agent, the environment and the policy stand side by side, and no name may
/// occur twice.
class BanditExperiment final : public Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  explicit BanditExperiment(const OptionSources& sources);
  BanditExperiment(const BanditExperiment&) = delete;
  BanditExperiment& operator=(const BanditExperiment&) = delete;

  const char* command() const override { return "bandit"; }
  const char* unit() const override { return "interactions"; }
  std::string name() const override { return fmt::format("{}/{}", environment_, policy_); }
  SeedRange seeds() const override { return SeedRange::parse(seeds_); }
  std::int64_t steps() const override { return steps_; }
  std::int64_t checkpoint_every() const override { return checkpoint_every_; }
  const OptionTable& options() const override { return table_; }
  std::unique_ptr<RecordedRun> make_run(const std::string& data) const override;
  std::string readable(const nlohmann::ordered_json& summary) const override;

  const std::string& environment() const { return environment_; }
  const std::string& policy() const { return policy_; }
  bool log_decisions() const { return log_decisions_; }
  const agents::BanditAgent::Options& agent_options() const { return agent_; }
  /// Whether rewards change what the policy does.
  bool learns() const { return policies::bandit_policies().at(policy_).learns; }
  /// What distinguishes this bandit from others of its name: its options and their values.
  std::map<std::string, std::string> environment_options() const;
  /// The options in four parts with a heading each: run, learning, environment, policy. The tables are bound to this
  /// object.
  Sections sections();
  /// The options with headings and defaults, for `--help`.
  std::string help() const;

 private:
  void describe_run(OptionTable& table);

  static constexpr const char* default_environment = "mushroom";
  static constexpr const char* default_policy = "s2vgd";

  std::string environment_ = default_environment;
  std::string policy_ = default_policy;
  std::string seeds_ = "0:1";
  std::int64_t steps_ = 2000;
  std::int64_t checkpoint_every_ = 500;
  bool log_decisions_ = false;
  agents::BanditAgent::Options agent_;
  std::unique_ptr<envs::BanditEntry::Builder> environment_builder_;
  std::unique_ptr<policies::PolicyEntry::Builder> policy_builder_;
  OptionTable table_;
};

}  // namespace stein::cli
