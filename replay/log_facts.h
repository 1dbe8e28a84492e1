// What a log says of itself: when arms were there, how they were logged, what arms drawn uniformly would have earned.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/replay/logged_event.h>
#include <stein/replay/value_estimate.h>

#include <array>
#include <cstdint>
#include <vector>

namespace stein::replay {

/// What an event says of arms drawn uniformly: w = 1 / (p · number of arms), times the event's own weight; the estimate
/// is Σ w r / Σ w.
EstimatorTerms uniform_terms(const LoggedEvent& event);

/// Counts over the events of a log.
class LogFacts {
 public:
  /// When an arm was there, and what came of it.
  struct Arm {
    std::int64_t first = -1, last = -1;  ///< numbers of the events that it could first and last be chosen in
    std::int64_t pulls = 0;
    double reward = 0;  ///< sum
  };
  /// Ends of the propensity histogram's bins: four in every power of ten from 10⁻⁶ to 1; the lowest takes what is
  /// below.
  static constexpr std::int64_t bins = 24;
  static double bin_end(std::int64_t bin);

  void add(const LoggedEvent& event);

  std::int64_t events() const { return events_; }
  double reward() const { return reward_; }
  const std::vector<Arm>& arms() const { return arms_; }
  const std::array<std::int64_t, bins>& propensities() const { return propensities_; }
  /// Whether every propensity was one in as many as there were arms to choose from, as far as its digits in the log go
  /// (one in a thousand): what replay needs to be without bias.
  bool uniform() const { return uniform_; }
  /// Of w = 1 / (p · number of arms), whose expectation is 1 where the log's propensities are right.
  const WeightDiagnostics& uniform_weights() const { return uniform_weights_; }
  /// Events whose arm was chosen with certainty though there were others: they say nothing of those.
  std::int64_t certain() const { return certain_; }
  /// The value of arms drawn uniformly.
  ValueEstimate uniform_value() const { return uniform_value_.estimate(); }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  std::int64_t events_ = 0, certain_ = 0;
  double reward_ = 0;
  bool uniform_ = true;
  ValueEstimator uniform_value_;
  WeightDiagnostics uniform_weights_;
  std::array<std::int64_t, bins> propensities_{};
  std::vector<Arm> arms_;
};

}  // namespace stein::replay
