// What rewards are measured in where policies should not depend on the currency.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/envs/bandit_spec.h>
#include <stein/policies/running_moments.h>

#include <optional>

namespace stein::policies {

/// The sd of the rewards of uniformly drawn arms where the bandit knows it; else, of a log say, that of the rewards so
/// far.
class RewardUnit {
 public:
  explicit RewardUnit(const envs::BanditSpec& spec) : known_(spec.reward_deviation) {}

  void observe(double reward);
  /// > 0; 1 before two rewards have differed.
  double value() const;

  /// Puts the part "rewards" if the unit is not known.
  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  std::optional<double> known_;
  RunningMoments rewards_{1};
};

}  // namespace stein::policies
