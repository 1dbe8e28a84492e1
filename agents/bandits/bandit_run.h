// Repetitions of a bandit experiment: their metrics, their log of decisions, their result.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>
#include <stein/runs/run.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stein::agents {

/// Sums over a run, one entry a seed, in seed order.
struct BanditResult {
  std::vector<double> regret{};          ///< against the best arm of every context, from expected rewards
  std::vector<double> uniform_regret{};  ///< expected regret of uniformly drawn arms on the same contexts
  std::vector<double> reward{};          ///< sum of the rewards

  /// Regret of each seed as a percentage of that of uniform play on the same contexts.
  std::vector<double> percent_of_uniform() const;
  /// Whether each seed ends with more regret than uniform play expects (1) or not (0): it stopped exploring too early.
  std::vector<double> lock_in() const;
};

/// One agent and what it records.
class BanditRepetition final : public runs::Repetition {
 public:
  explicit BanditRepetition(std::unique_ptr<BanditAgent> agent) : agent_(std::move(agent)) {}

  BanditAgent& agent() { return *agent_; }
  const BanditAgent& agent() const { return *agent_; }

  std::uint64_t seed() const override { return agent_->seed(); }
  std::int64_t steps_done() const override { return agent_->steps_done(); }
  /// A few interactions: repetitions with the same `until` stay in step.
  void advance(std::int64_t until, const StopToken& stop, runs::Records& records) override;
  std::optional<std::string> warning() const override { return agent_->learner().policy().warning(); }
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  std::unique_ptr<BanditAgent> agent_;
  double entropy_sum_ = 0;          ///< of propensities since the last record [nats]
  std::int64_t entropy_count_ = 0;  ///< interactions in that sum
};

/// Agents with seeds first … end − 1.
class BanditRun final : public runs::RunOf<BanditRepetition> {
 public:
  /// What a run says of itself.
  struct Facts {
    std::string environment{}, policy{};                       ///< registered names
    std::map<std::string, std::string> environment_options{};  ///< that tell this bandit from others of its name
    bool learns = true;                                        ///< whether rewards change what the policy does
    std::int64_t window = 0;                                   ///< interactions that minibatches are drawn from
    bool log_decisions = false;                                ///< decisions.jsonl is written
  };
  /// Makes the agent of a seed.
  using MakeAgent = std::function<std::unique_ptr<BanditAgent>(std::uint64_t seed)>;

  BanditRun(runs::SeedRange seeds, const MakeAgent& make_agent, Facts facts);

  const envs::BanditSpec& spec() const { return repetition(0).agent().environment().spec(); }
  BanditResult result() const;
  /// Time of all seeds together, that of earlier processes included once it was added.
  policies::BanditLearner::Timing timing() const;

  std::string line_log_head() const override;
  std::string source() const override;
  std::vector<std::string> notices() const override;
  /// Also where every interaction was a forced pull.
  std::vector<std::string> warnings() const override;
  nlohmann::ordered_json protocol() const override;
  /// Throws Error(data) where the run began with another table.
  void check_manifest(const nlohmann::ordered_json& manifest) const override;
  std::map<std::string, std::string> data_checksums() const override;
  nlohmann::ordered_json cost() const override;
  void add_cost(const nlohmann::ordered_json& earlier) override;
  nlohmann::ordered_json summarize(const Watch& watch) override;
  /// posteriors.json, where the bandit has probes and the policy a posterior: array of {seed, probe, expected_rewards,
  /// samples [samples][arms]}.
  void write_results(const RunDirectory& directory) override;

 private:
  std::string data_size() const;

  Facts facts_;
  policies::BanditLearner::Timing earlier_{};
};

/// Decisions a second as a person sees them: "-" where there were none or fewer than 200 were timed, as of a few the
/// number is noise. Summaries of earlier versions do not say how many were.
std::string decision_rate(const nlohmann::ordered_json& summary);

/// The lines that a person sees of the summary of a bandit run.
std::string readable_bandit_summary(const nlohmann::ordered_json& summary);

}  // namespace stein::agents
