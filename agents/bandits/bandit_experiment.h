// A bandit experiment as a person describes it: an environment, a policy, seeds, and the options of all its parts.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>
#include <stein/runs/experiment.h>

#include <memory>
#include <string>

namespace stein::agents {

/// What `stein bandit` starts.
class BanditExperiment final : public runs::Experiment {
 public:
  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  BanditExperiment(const runs::RunKind& kind, const runs::OptionSources& sources);

  std::string name() const override { return fmt::format("{}/{}", environment_, policy_); }
  std::unique_ptr<runs::Run> make_run(const std::string& data) const override;

  const envs::BanditEntry::Builder& environment_builder() const { return *environment_builder_; }
  const std::string& policy() const { return policy_; }
  /// The policy of a seed with what it learns by, as it begins, on the processor: who goes on with a run that has
  /// learned decides there, wherever it learned.
  std::unique_ptr<policies::BanditLearner> make_learner(const envs::BanditSpec& spec, std::uint64_t seed) const;

 private:
  std::string environment_ = "mushroom", policy_ = "psgld", device_ = "cpu";
  bool learns_ = true, log_decisions_ = false;
  policies::BanditLearner::Options agent_;
  std::unique_ptr<envs::BanditEntry::Builder> environment_builder_;
  std::unique_ptr<policies::PolicyEntry::Builder> policy_builder_;
};

/// The parts that bandit experiments can be put together from.
std::vector<runs::Part> bandit_parts();

}  // namespace stein::agents
