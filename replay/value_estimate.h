// What a policy would earn, estimated from the log of another: off-policy evaluation.
#pragma once

#include <stein/core/options.h>
#include <stein/core/registry.h>
#include <stein/core/snapshot.h>
#include <stein/replay/confidence_sequence.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stein::replay {

/// What an estimator is told of a logged event and of the policy that is judged.
struct JudgedEvent {
  double reward = 0;             ///< r, of the arm that was chosen
  double logged_propensity = 1;  ///< p in (0, 1], with which it was chosen
  double target_propensity = 0;  ///< π in [0, 1], with which the judged policy would have chosen it
  double predicted = 0;          ///< q, the reward of the chosen arm by a model
  double expected = 0;           ///< Σ over all arms of π q, the policy's reward by the model

  /// w = π / p.
  double weight() const { return target_propensity / logged_propensity; }
};

/// Where estimators that bound their weights do so.
struct EstimatorOptions {
  double clip_weight = 100;   ///< of clipped-ips
  double switch_weight = 10;  ///< τ of switch

  template <class V>
  void describe(V& v) {
    v("clip_weight", clip_weight, "of clipped-ips: larger ones are cut to this", positive);
    v("switch_weight", switch_weight, "of switch: where the weight is larger, the model alone is believed", positive);
  }
};

/// What an event adds to an estimate, which is the sum of the first divided by that of the second.
struct EstimatorTerms {
  double numerator = 0;
  double denominator = 1;
  double weight = 1;  ///< the event's weight in it: of these the effective sample size is
};

/// A way to estimate: what an event adds.
struct EstimatorEntry {
  std::string description;  ///< with its source
  bool needs_model = false;
  EstimatorTerms (*terms)(const JudgedEvent& event, const EstimatorOptions& options) = nullptr;
  /// The estimator that measures its error, since its own terms do not; empty: they do.
  std::string error_by{};
};

/// All of them, by name:
///   ips          Σ w r / n (Horvitz & Thompson 1952)
///   clipped-ips  Σ min(w, bound) r / n (Ionides 2008)
///   snips        Σ w r / Σ w (Swaminathan & Joachims 2015)
///   dm           Σ Σ_a π q / n; how its terms spread says nothing of how wrong the model is, so its interval is that
///                of dr, stretched to the value of dm
///   dr           Σ (Σ_a π q + w (r − q)) / n (Dudík, Langford & Li 2011)
///   switch       dr where w ≤ τ, dm elsewhere (Wang, Agarwal & Dudík 2017, with the doubly robust part); its interval
///                is made as that of dm
const Registry<EstimatorEntry>& estimators();

/// An estimate with what is known of its error.
struct ValueEstimate {
  double value = 0;           ///< not a number where there were no events, or no weight
  double standard_error = 0;  ///< of large samples: of a ratio by its first derivatives
  /// Value ± 1.96 standard errors: 95 % for large samples, and for one look.
  Interval interval{};
  double effective_sample_size = 0;  ///< (Σ w)² / Σ w²

  /// The same with the interval of another level in (0, 1).
  ValueEstimate at(double level) const;
};

/// `estimate` with the error that `judge` measures for it: standard error and effective sample size of `judge`, and the
/// smallest interval that holds the interval of `judge` and the value.
ValueEstimate with_error_of(const ValueEstimate& judge, const ValueEstimate& estimate);

/// Sums over events, from which the value of a policy is estimated.
class ValueEstimator {
 public:
  void add(const EstimatorTerms& terms);
  ValueEstimate estimate() const;
  std::int64_t count() const { return count_; }

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  friend class PairedValues;

  /// n² times the variance of the value's error.
  double squared_influence(double value) const;

  std::int64_t count_ = 0;
  double numerator_ = 0, denominator_ = 0, weights_ = 0;                        ///< sums
  double squares_ = 0, products_ = 0, denominators_ = 0, squared_weights_ = 0;  ///< sums of squares and products
};

/// Two policies that are judged on the same events: the errors of the two go together, and much of them cancels.
class PairedValues {
 public:
  void add(const EstimatorTerms& first, const EstimatorTerms& second);
  /// The first policy's value less the second's; the effective sample size is the smaller one.
  ValueEstimate difference() const;
  /// The first policy's value divided by the second's, likewise.
  ValueEstimate ratio() const;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  /// n² times the covariance of the errors of the two values.
  double joint_influence(double first, double second) const;

  ValueEstimator first_, second_;
  /// Sums over events of the first's (numerator, denominator) times the second's, row by row.
  std::vector<double> products_ = std::vector<double>(4);
};

/// Of the weights w = π / p of a log: how much of it speaks of the policy that is judged.
class WeightDiagnostics {
 public:
  void add(double weight);

  std::int64_t count() const { return count_; }
  double mean() const;  ///< 1 in expectation where the log's propensities are right
  /// Of the mean, of large samples.
  double standard_error() const;
  double largest() const { return largest_; }
  double effective_sample_size() const;
  double share_of_zeros() const;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  std::int64_t count_ = 0, zeros_ = 0;
  double sum_ = 0, squares_ = 0, largest_ = 0;
};

}  // namespace stein::replay
