// A model of rewards that is fitted to the log as it goes by: what direct and doubly robust estimates ask.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/linear_regressions.h>
#include <stein/replay/logged_event.h>

#include <limits>
#include <vector>

namespace stein::replay {

/// A ridge regression of the reward on the context for every arm. An event is predicted before the model learns from
/// it, so that predictions owe nothing to the rewards that they are compared with (progressive validation; Dudík et al.
/// 2014, section 4, ask for a model that was fitted to other data). Where rewards have bounds, predictions go
/// beyond them by no more than the width between them: a context far from all others would else be predicted far beyond
/// any reward. Cut at the bounds themselves, predictions of rare clicks would be too large on average.
class RewardModel {
 public:
  explicit RewardModel(const envs::BanditSpec& spec);

  /// Appends the predicted reward of every arm that can be chosen to `predictions`, then learns from the event.
  void take(const LoggedEvent& event, std::vector<double>& predictions);

  void save(Snapshot& snapshot) const { regressions_.save(snapshot); }
  void restore(const Snapshot& snapshot) { regressions_.restore(snapshot); }

 private:
  double low_ = std::numeric_limits<double>::lowest(), high_ = std::numeric_limits<double>::max();  ///< of predictions
  policies::LinearRegressions regressions_;
};

}  // namespace stein::replay
