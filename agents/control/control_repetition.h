// One repetition of a control experiment: its metrics, the evaluations while its agent learns, its outcome.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/evaluation.h>
#include <stein/runs/run.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stein::agents {

/// When policies are looked at from outside.
struct ControlEvaluationOptions {
  std::int64_t evaluate_every = 0;
  std::int64_t evaluation_episodes = 20;
  std::int64_t final_episodes = 100;

  template <class V>
  void describe(V& v) {
    v("evaluate_every", evaluate_every,
      "evaluation episodes each time that so many more steps have been taken; 0: only at the end", between(0, 1e12),
      "steps");
    v("evaluation_episodes", evaluation_episodes, "episodes of such an evaluation, actions without noise",
      between(1, 1e6));
    v("final_episodes", final_episodes, "episodes of the evaluation at the end, once without noise and once with",
      between(1, 1e6));
  }
};

/// Final evaluation of one repetition.
struct ControlOutcome {
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< environment steps of all particles
  std::int64_t iterations = 0;
  std::vector<FinishedEpisode> deterministic{};      ///< evaluation episodes, a particle drawn uniformly for each
  std::vector<FinishedEpisode> sampled{};            ///< the same with actions drawn
  std::vector<double> particle_returns{};            ///< [M] mean return of every particle's own evaluation episodes
  std::optional<PosteriorParts> parts{};             ///< of the Stein direction when it was last measured
  std::optional<double> collapse{};                  ///< as ControlPolicy::diagnostics has it
  std::optional<double> effective_share{};           ///< of shared rollouts when it was last measured
  std::optional<std::int64_t> steps_to_threshold{};  ///< at the first evaluation that reached the threshold
  bool evaluated = false;                            ///< while it learned; else no threshold can have been reached
};

/// Time spent learning, not evaluating; never part of a saved state.
struct ControlTiming {
  double training_seconds = 0;
  std::optional<double> seconds_to_threshold{};
};

/// One agent, what it records, and its evaluations. Steps are environment steps, all particles together; the last
/// iteration may go beyond what was asked for. Metrics are numbered by the steps that the agent had taken.
class ControlRepetition final : public runs::Repetition {
 public:
  /// @param environment  of the evaluation episodes; must outlive the repetition
  ControlRepetition(std::unique_ptr<ControlAgent> agent, const envs::ControlEntry::Builder& environment,
                    const ControlEvaluationOptions& evaluation);

  ControlAgent& agent() { return *agent_; }
  const ControlAgent& agent() const { return *agent_; }
  /// Plays the final evaluation episodes, unless it has concluded; what a stop cuts short means nothing. Throws
  /// Error(numeric) where the weights have diverged, though they are finite.
  ControlOutcome outcome(const Watch& watch) const;
  /// Whether the final evaluation episodes are played already.
  bool concluded() const { return played_.has_value(); }
  /// Drops the final evaluation episodes that conclude() has played.
  void forget_conclusion() { played_.reset(); }
  /// Time spent learning: of this process and of those that worked on the repetition before.
  ControlTiming timing() const;
  /// Adds the time of another process, which took up the repetition where those that were added before had left it, and
  /// left it where this one takes it up.
  void add_timing(const ControlTiming& other);

  std::uint64_t seed() const override { return agent_->seed(); }
  std::int64_t steps_done() const override { return agent_->total_steps(); }
  /// A few iterations. Throws Error(numeric) where the weights have diverged, finite or not.
  void advance(std::int64_t until, const StopToken& stop, runs::Records& records) override;
  bool share_with(distributed::Communicator& ranks) override { return agent_->share_with(ranks); }
  void bring_together() override { agent_->bring_together(); }
  void conclude(const StopToken& stop) override;
  /// What the agent warns of, or that of a Stein posterior little is left. Either its particles are maxima of the
  /// return: in the mean of the last ten measured iterations or so, prior and repulsion have less than 0.1 % of the
  /// lengths of what moves the particles (a few per cent of them hold weights: the rest, ∇J/α, is mostly noise of
  /// minibatches). Or they act alike: each learns from more than 99 % of all rows as from its own; where rollouts are
  /// not shared, their weights have less than 1 % of the variance of independent ones.
  std::optional<std::string> warning() const override;
  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  /// What an outcome has of the episodes at the end.
  struct Episodes {
    std::vector<FinishedEpisode> deterministic{}, sampled{};
    std::vector<double> particle_returns{};
  };
  void iterate(runs::Records& records);
  void record(const IterationReport& report, runs::Records& records);
  void record(const PosteriorParts& parts);
  void evaluate(runs::Records& records);
  void check_weights() const;
  Episodes play(const Watch& watch) const;
  /// Variance of the weights over particles ÷ that of independent starts (ControlPolicy::diagnostics), if there are
  /// several.
  std::optional<double> collapse() const;

  std::unique_ptr<ControlAgent> agent_;
  const envs::ControlEntry::Builder& environment_;
  ControlEvaluationOptions evaluation_;
  double threshold_;
  std::vector<FinishedEpisode> episodes_{};  ///< since the last record
  std::int64_t evaluations_ = 0;
  std::int64_t steps_to_threshold_ = -1;
  std::optional<PosteriorParts> parts_{};    ///< when they were last measured
  std::optional<double> effective_share_{};  ///< of shared rollouts when it was last measured
  std::int64_t shares_ = 0;                  ///< measurements of parts_ so far
  double mean_share_ = 0;                    ///< of prior and repulsion, a running mean over about ten of them
  std::optional<Episodes> played_{};         ///< once it has concluded
  ControlTiming timing_;                     ///< of this process
  ControlTiming earlier_;                    ///< of others
};

}  // namespace stein::agents
