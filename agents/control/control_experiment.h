// A control experiment as a person describes it: an environment, an agent, a posterior over its policies, seeds, and
// the options of all its parts.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/control_run.h>
#include <stein/envs/vector_environment.h>
#include <stein/runs/experiment.h>

#include <memory>
#include <string>
#include <vector>

namespace stein::agents {

/// What `stein rl` starts. Which options an agent has depends on the posterior and on whether actions are choices.
class ControlExperiment final : public runs::Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  ControlExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  std::string name() const override;
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  const std::string& environment() const { return environment_; }
  const std::string& agent() const { return agent_name_; }
  const std::string& posterior() const { return posterior_; }
  const envs::ControlEntry::Builder& environment_builder() const { return *environment_builder_; }

 private:
  /// Everything that could stand in place of agent, posterior and environment.
  std::vector<runs::Part> other_parts() const override;
  std::int64_t horizon() const;

  static constexpr const char* default_posterior = "none";
  /// In a run, unless `evaluate_every` is set.
  static constexpr std::int64_t evaluations = 50;

  std::string environment_ = "CartPole-v1", agent_name_ = "a2c", posterior_ = default_posterior, device_ = "cpu";
  ControlEvaluationOptions evaluation_;
  ControlAgentOptions agent_;
  std::unique_ptr<envs::ControlEntry::Builder> environment_builder_;
};

/// The parts that control experiments can be put together from.
std::vector<runs::Part> control_parts();

}  // namespace stein::agents
