// What an iteration collected, as learners use it: the rows that count, with advantages.
#pragma once

#include <stein/agents/control/baseline.h>
#include <stein/agents/control/rollouts.h>
#include <stein/core/snapshot.h>
#include <stein/distributed/communicator.h>
#include <stein/policies/control_policy.h>
#include <stein/policies/running_moments.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::agents {

/// Rows of all particles, [M·n, ·], one particle after the other. A particle with fewer than n has rows of zeros last.
struct ExperienceRows {
  std::int64_t rows = 0;            ///< n: the most of any particle
  std::vector<float> observations;  ///< [M·n, O] as the networks see them
  std::vector<float> actions;       ///< [M·n, A]
  std::vector<float> times;         ///< [M·n] steps of the episode before this one
  std::vector<float> scale;         ///< [M·n] 1/(rows of the particle that count); 0 for a row that fills up
  std::vector<float> advantages;    ///< [M·n]
  std::vector<float> targets;       ///< [M·n] advantage + value: what a baseline learns
  std::vector<float> log_density;   ///< [M·n] log π(a | o) before the policies moved, for learners that ask for it
};

/// Brings the steps of all shards together, particle by particle, and says how much better they were than expected.
class Experience {
 public:
  /// How advantages are estimated.
  struct Options {
    double discount = 0.99;
    double gae_lambda = 0.95;
    bool horizon_is_an_end = false;  ///< nothing follows a truncated path or the last step
    bool normalize_advantages = true;
    bool normalize_together = false;  ///< over all particles, not for each
    bool normalize_rewards = false;
  };

  /// @param rollouts  of the shape that `take` will be given
  Experience(const Options& options, const Rollouts& rollouts);

  /// From here on `take` is a collective call of `ranks`, which have to outlive this object and have the same rollouts:
  /// each values some of the shards.
  void share_with(distributed::Communicator& ranks) { ranks_ = &ranks; }

  /// Replaces what was taken before. Advantages are of the baseline as it is, by the values that came with the rollouts
  /// (those of its networks) where some did; rewards are divided by the running sd of their discounted sums where
  /// `normalize_rewards` says so.
  void take(const Rollouts& rollouts, const policies::ControlPolicy& policy, Baseline& baseline);

  ExperienceRows& all() { return all_; }
  const ExperienceRows& all() const { return all_; }
  /// Some rows of every particle, by their number 0 … n − 1, weighed to stand for all; valid until the next call.
  const ExperienceRows& pick(std::span<const std::int64_t> chosen);
  /// What a mean over the steps of particle i is multiplied with to be a mean over paths: its steps a path where whole
  /// paths were collected, else the mean length of the last 100 episodes of all particles (the horizon before any
  /// ended).
  double steps_per_path(std::int64_t i) const { return steps_per_path_[static_cast<std::size_t>(i)]; }

  /// How well the baseline foresaw the returns of what was taken, before it learned from them: mean over particles.
  double explained_variance() const { return explained_variance_; }
  /// Half the mean squared error of the baseline, the mean over particles; the same moment.
  double value_loss() const { return value_loss_; }

  /// The running statistics of the rewards, and the lengths of the last episodes.
  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  void gather(const Rollouts& rollouts, const policies::ControlPolicy& policy);
  void score_rewards(const Rollouts& rollouts);
  void measure_paths(const Rollouts& rollouts);
  void judge_baseline();
  void estimate(const RolloutShard& shard, std::size_t index, const policies::ControlPolicy& policy,
                Baseline& baseline);
  void value_steps(const RolloutShard& shard, const policies::ControlPolicy& policy, Baseline& baseline,
                   std::span<float> values, std::span<float> next_values) const;
  void place_estimates(std::size_t index);

  Options options_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  std::int64_t particles_;
  ExperienceRows all_, picked_;
  policies::RunningMoments reward_moments_{1};
  std::vector<std::vector<float>> running_returns_;  ///< by shard, [slots]
  std::vector<std::vector<float>> rewards_;          ///< by shard, [rows]
  std::vector<std::vector<float>> estimates_;        ///< by shard, [2, rows]: V(s_t), and then advantages
  std::vector<std::vector<std::int64_t>> gathered_;  ///< by shard, [rows]: row of `all_`, or −1
  std::vector<std::int64_t> counts_;                 ///< [M] rows that count
  double explained_variance_ = 0, value_loss_ = 0;
  std::vector<double> steps_per_path_;      ///< [M]
  std::vector<std::int64_t> last_lengths_;  ///< of the last episodes, at most 100
};

}  // namespace stein::agents
