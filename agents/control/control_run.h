// Several repetitions of one control experiment side by side, with results that do not depend on threads.
#pragma once

#include <stein/agents/control/control_agent.h>
#include <stein/agents/control/evaluation.h>
#include <stein/core/progress.h>
#include <stein/core/recorder.h>
#include <stein/core/snapshot.h>
#include <stein/core/stop_token.h>

#include <cstdint>
#include <functional>
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

/// What one repetition came to.
struct ControlOutcome {
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< environment steps of all particles
  std::int64_t iterations = 0;
  std::vector<FinishedEpisode> deterministic{};      ///< evaluation episodes, a particle drawn uniformly for each
  std::vector<FinishedEpisode> sampled{};            ///< the same with actions drawn
  std::vector<double> particle_returns{};            ///< [M] mean return of every particle's own evaluation episodes
  std::optional<std::int64_t> steps_to_threshold{};  ///< at the first evaluation that reached the threshold
};

/// Time spent learning, not evaluating; never part of a saved state.
struct ControlTiming {
  double training_seconds = 0;
  std::optional<double> seconds_to_threshold{};
};

/// Agents with seeds first … end − 1, each a task of its own. `advance` counts environment steps of one seed, all its
/// particles together; the last iteration may go beyond. Metrics are numbered by the environment steps that a seed had
/// taken, and recorded by number and then by seed, so that logs are the same bytes at any thread count and wherever a
/// run was interrupted.
class ControlRun {
 public:
  using MakeAgent = std::function<std::unique_ptr<ControlAgent>(std::uint64_t seed)>;

  /// @param environment  of the evaluation episodes; must outlive the run
  /// @throws Error(usage) unless first_seed < end_seed
  ControlRun(std::uint64_t first_seed, std::uint64_t end_seed, const MakeAgent& make_agent,
             const envs::ControlEntry::Builder& environment, const ControlEvaluationOptions& evaluation);

  struct Outputs {
    Recorder& recorder;
    Progress& progress;
  };

  /// Brings every agent to at least `until` steps, or to fewer if asked to stop. Throws Error(numeric) if one of them
  /// diverged; the agents must then not be saved.
  void advance(std::int64_t until, const StopToken& stop, const Outputs& outputs);
  /// Records what seeds with more steps than the others were still holding back.
  void finish(const Outputs& outputs);

  /// The fewest of any seed: metrics up to this number have been recorded, and no later ones.
  std::int64_t steps_done() const;
  std::int64_t agent_count() const { return std::ssize(repetitions_); }
  ControlAgent& agent(std::int64_t i) { return *repetitions_[static_cast<std::size_t>(i)].agent; }
  const envs::ControlSpec& spec() const { return spec_; }

  /// Plays the final evaluation episodes.
  std::vector<ControlOutcome> outcomes() const;

  /// What a person should know of how it went, with the seed: policies that left the finite numbers and came back.
  std::vector<std::string> warnings() const;

  const std::vector<ControlTiming>& timing() const { return timing_; }
  /// Adds the time of earlier processes. Throws Error(usage) unless there is one entry a seed.
  void add_timing(const std::vector<ControlTiming>& earlier);

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) saying what differs.
  void restore(const Snapshot& snapshot);

 private:
  struct Number {
    std::int64_t step;
    std::string tag;
    double value;
  };
  struct Repetition {
    std::unique_ptr<ControlAgent> agent;
    std::vector<FinishedEpisode> episodes{};  ///< since the last record
    std::int64_t evaluations = 0;
    std::int64_t steps_to_threshold = -1;
    std::vector<Number> numbers{};  ///< not yet handed over
  };

  void iterate(Repetition& repetition, ControlTiming& timing) const;
  void record(Repetition& repetition, const IterationReport& report) const;
  void evaluate(Repetition& repetition, ControlTiming& timing) const;
  void hand_over(const Outputs& outputs, std::int64_t last_step);

  const envs::ControlEntry::Builder& environment_;
  ControlEvaluationOptions evaluation_;
  envs::ControlSpec spec_;
  std::vector<Repetition> repetitions_;
  std::vector<ControlTiming> timing_;
};

}  // namespace stein::agents
