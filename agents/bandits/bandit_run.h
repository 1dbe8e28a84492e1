// Several repetitions of one bandit experiment side by side, in lock-step, with results that do not depend on threads.
#pragma once

#include <stein/agents/bandits/bandit_agent.h>
#include <stein/agents/bandits/decision_log.h>
#include <stein/core/progress.h>
#include <stein/core/recorder.h>
#include <stein/core/snapshot.h>
#include <stein/core/stop_token.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace stein::agents {

/// What the repetitions came to; one entry a seed, in seed order.
struct BanditResult {
  std::int64_t steps = 0;
  std::vector<std::uint64_t> seeds{};
  std::vector<double> regret{};          ///< against the best arm of every context, from expected rewards
  std::vector<double> uniform_regret{};  ///< expected regret of uniformly drawn arms on the same contexts
  std::vector<double> reward{};          ///< sum of the rewards
  std::vector<std::string> warnings{};   ///< of the policies, each naming its seed
  BanditAgent::Timing timing{};          ///< of all seeds together, since the run was made or restored

  /// Mean regret as a percentage of that of uniform play.
  double regret_percent_of_uniform() const;
  /// Share of seeds that end with more regret than uniform play expects: those that stopped exploring too early.
  double lock_in_share() const;
};

/// Samples of the posterior expected reward of every arm in a context that the bandit offers to show.
struct ProbedPosterior {
  std::uint64_t seed = 0;
  std::string probe;
  std::vector<double> expected_rewards;      ///< the truth, [arms], or empty where the bandit does not tell
  std::vector<std::vector<double>> samples;  ///< [samples][arms]
};

/// Agents with seeds first … end − 1, each a task of its own. Interactions are reported by step and then by seed, so
/// that logs are the same bytes at any thread count and wherever a run was interrupted.
class BanditRun {
 public:
  using MakeAgent = std::function<std::unique_ptr<BanditAgent>(std::uint64_t seed)>;

  /// Throws Error(usage) unless first_seed < end_seed.
  BanditRun(std::uint64_t first_seed, std::uint64_t end_seed, const MakeAgent& make_agent);

  /// Where a run reports to; `decisions` may be null.
  struct Outputs {
    Recorder& recorder;
    Progress& progress;
    DecisionSink* decisions = nullptr;
  };

  /// Brings every agent to `until` interactions, or to fewer, all to the same number, if asked to stop.
  /// Throws Error(numeric) if one of them diverged; the agents are then no longer in step and must not be saved.
  void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs);

  std::int64_t steps_done() const { return agents_.front().agent->steps_done(); }
  std::int64_t agent_count() const { return std::ssize(agents_); }
  const envs::BanditSpec& spec() const { return agents_.front().agent->environment().spec(); }
  const policies::BanditPolicy& policy() const { return agents_.front().agent->policy(); }
  BanditResult result() const;
  /// The posteriors at the bandit's probes, by seed and probe; empty where there are no probes or no posterior.
  std::vector<ProbedPosterior> probed_posteriors();

  /// Everything that later interactions depend on.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  struct Report;  // what one agent did in one block
  struct Repetition {
    std::unique_ptr<BanditAgent> agent;
    double entropy_sum = 0;          ///< of propensities since the last record [nats]
    std::int64_t entropy_count = 0;  ///< interactions in that sum
  };

  static void run_block(Repetition& repetition, std::int64_t until, Report& report);
  void hand_over(std::vector<Report>& reports, const Outputs& outputs) const;

  std::vector<Repetition> agents_;
};

}  // namespace stein::agents
