// Several policies on one stream of events: what each is worth, and how they differ.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/distributed/agree.h>
#include <stein/distributed/communicator.h>
#include <stein/replay/judged_policy.h>
#include <stein/replay/reward_model.h>
#include <stein/replay/value_estimate.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stein::replay {

/// What besides replay is estimated.
struct ComparisonOptions {
  std::vector<std::string> estimators{};  ///< registered names
  double level = 0.95;                    ///< of intervals
  std::int64_t smallest_sample = 50;      ///< effective sample size below which nothing is said
  EstimatorOptions bounds{};

  template <class V>
  void describe(V& v) {
    v("estimators", estimators,
      "what to estimate from propensities besides replay: ips, clipped-ips, snips, dm, dr, switch");
    v("level", level, "with which intervals cover, all seeds together", between(0.5, 0.999999));
    v("smallest_sample", smallest_sample,
      "an estimate whose effective sample size is smaller is refused: it would be noise", non_negative, "events");
    bounds.describe(v);
  }
};

/// Policies that are judged on the same events. "replay" is the first way to judge: w = 1 / p where a policy chose the
/// logged arm and 0 elsewhere, of the policy that made the log 1, Σ w r / Σ w; on a log with equal propensities the
/// mean reward of accepted events. The other ways are the estimators that were asked for, with the exact propensities
/// of the policies; where another estimator measures the error of one, it goes along unseen.
class PolicyComparison {
 public:
  /// What a policy made of an event.
  struct Verdict {
    bool accepted = false;
    double weight = 0;  ///< π / p by its exact propensities, where they were asked for
  };
  /// One of the policies.
  struct Contender {
    std::string name;
    std::unique_ptr<JudgedPolicy> policy;
    std::vector<ValueEstimator> estimates{};  ///< [ways]
    PairedValues with_uniform{};              ///< by replay, and arms drawn uniformly by 1 / propensity
    WeightDiagnostics weights{};              ///< of the exact propensities, where they were asked for
    double seconds = 0;                       ///< that it took, of one thread; never part of the saved state
    std::vector<Verdict> verdicts{};          ///< [events] of the last ones
    std::vector<EstimatorTerms> terms{};      ///< [events · ways] of the last ones
    double last_seconds = 0;                  ///< that it took for them
  };
  /// Two policies, and how they differ in each way.
  struct Pair {
    std::size_t first, second;
    std::vector<PairedValues> differences;  ///< [ways]
  };

  /// Throws Error(usage) for an estimator that is unknown or named twice.
  PolicyComparison(const ComparisonOptions& options, const envs::BanditSpec& spec);

  /// Adds a policy; before the first events.
  void add(std::string name, std::unique_ptr<JudgedPolicy> policy);
  /// All policies choose in these events, one after the other, each policy a task of its own.
  void take(std::span<const LoggedEvent> events);

  /// From here on a rank plays its share of the policies. All `ranks`, which have to outlive it, take the same events,
  /// which count once they were exchanged and added up. Where one policy stands and what it has learned only the rank
  /// that plays it knows, until `bring_together` brings it to the first.
  void share_with(distributed::Communicator& ranks);
  /// Collective. What every policy chose since it was last called comes to all ranks.
  /// @param own  what went wrong on this rank since then
  /// @throws distributed::AgreedError on every rank if anything went wrong on any; Error(data) if the ranks have taken
  /// different numbers of events
  void exchange(const std::optional<distributed::Failure>& own = std::nullopt);
  /// Adds up the next `count` of the events that were exchanged. Throws Error(usage) if there are fewer.
  void add_up(std::int64_t count);
  /// Collective, when all events are added up.
  void bring_together();

  /// Whether anything here depends on the features of arms.
  bool sees_arm_features() const;
  /// "replay", and the estimators that were asked for.
  std::span<const std::string> ways() const { return std::span(ways_).first(shown_); }
  /// Of the mean reward of the events that a policy accepted: at all times at once where rewards are bounded, else that
  /// of large samples.
  Interval interval(std::size_t contender) const;
  /// What a policy is worth by a way, and how the policies of a pair differ by it.
  ValueEstimate estimate(std::size_t contender, std::size_t way) const;
  ValueEstimate difference(std::size_t pair, std::size_t way) const;
  /// What a policy is worth by replay, divided by what arms drawn uniformly earn on the same events.
  ValueEstimate relative(std::size_t contender) const { return contenders_[contender].with_uniform.ratio().at(level_); }
  const std::vector<Contender>& contenders() const { return contenders_; }
  const std::vector<Pair>& pairs() const { return pairs_; }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  /// What is to be known of an event once policies have chosen in it.
  struct Outcome {
    double reward = 0;
    EstimatorTerms uniform{};  ///< of arms drawn uniformly
  };
  /// Its policy chooses: verdicts and terms.
  void choose(Contender& contender, std::span<const LoggedEvent> events) const;
  /// What follows from verdicts and terms of a policy, and of those of two.
  void add_up(Contender& contender, std::size_t end) const;
  void add_up_pairs(std::size_t end);
  JudgedEvent judge(const LoggedEvent& event, const Choice& choice, std::span<const double> predictions) const;

  void add_way(const std::string& estimator);

  EstimatorOptions bounds_;
  double level_;
  distributed::Communicator* ranks_ = &distributed::single_process();
  std::vector<std::string> ways_{"replay"};
  std::size_t shown_ = 1;                          ///< of the ways; those behind measure errors
  std::vector<const EstimatorEntry*> estimators_;  ///< of the ways behind "replay"
  std::optional<RewardModel> model_;               ///< where an estimator needs one
  std::vector<double> predictions_;                ///< of all arms of the last events, one event after the other
  std::vector<Outcome> outcomes_;                  ///< of the last events
  std::size_t added_up_ = 0;                       ///< of them
  std::vector<Contender> contenders_;
  std::vector<Pair> pairs_;
};

}  // namespace stein::replay
