// A bandit experiment as a person describes it: an environment, a policy, seeds, and the options of all its parts under
// one roof.
#pragma once

#include <stein/agents/bandit_agent.h>
#include <stein/agents/bandit_run.h>
#include <stein/core/options.h>
#include <stein/envs/bandit_environment.h>
#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::cli {

/// Seeds first … end − 1.
struct SeedRange {
  std::uint64_t first = 0, end = 1;

  /// From "A:B". Throws Error(usage) for anything else, for an empty range, and for more than 10,000 seeds.
  static SeedRange parse(std::string_view text);
};

/// Options are flat: those of the run, the agent, the environment and the policy stand side by side, and no name may
/// occur twice.
class BanditExperiment {
 public:
  /// Where options come from: a TOML file (may be empty), then `key = value` pairs in order.
  struct Sources {
    std::string toml;
    std::string toml_name;  ///< of the file, for messages
    std::vector<std::pair<std::string, std::string>> settings;
  };

  /// Throws Error(usage) for unknown names, unknown keys and values out of range.
  explicit BanditExperiment(const Sources& sources);
  BanditExperiment(const BanditExperiment&) = delete;
  BanditExperiment& operator=(const BanditExperiment&) = delete;

  const std::string& environment() const { return environment_; }
  const std::string& policy() const { return policy_; }
  SeedRange seeds() const { return SeedRange::parse(seeds_); }
  std::int64_t steps() const { return steps_; }
  std::int64_t checkpoint_every() const { return checkpoint_every_; }
  bool log_decisions() const { return log_decisions_; }
  const agents::BanditAgent::Options& agent_options() const { return agent_; }
  /// Whether rewards change what the policy does.
  bool learns() const { return policies::bandit_policies().at(policy_).learns; }
  /// What distinguishes this bandit from others of its name: its options and their values.
  std::map<std::string, std::string> environment_options() const;
  /// All options with their present values.
  const OptionTable& options() const { return table_; }
  /// The options in four parts with a heading each: run, learning, environment, policy. The tables are bound to this
  /// object.
  std::vector<std::pair<std::string, OptionTable>> sections();
  /// The options with headings and defaults, for `--help`.
  std::string help() const;

  /// Agents ready for their first interaction. Throws Error(data) where a data set is missing or damaged.
  std::unique_ptr<agents::BanditRun> make_run(const envs::DataSource& source) const;

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

/// "key=value" as a pair. Throws Error(usage) where there is no '='.
std::pair<std::string, std::string> parse_setting(std::string_view text);

}  // namespace stein::cli
