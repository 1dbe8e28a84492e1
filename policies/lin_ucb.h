// LinUCB (Li, Chu, Langford & Schapire 2010, "A contextual-bandit approach to personalized news article
// recommendation").
#pragma once

#include <stein/policies/bandit_policy.h>
#include <stein/policies/linear_regressions.h>
#include <stein/policies/reward_unit.h>

#include <optional>
#include <vector>

namespace stein::policies {

/// Pulls the arm of the largest w_a·μ + α √(w_aᵀA⁻¹w_a), w_a the arm's row in the regressions; equals share the
/// probability. `disjoint` regressions are the paper's algorithm 1, `hybrid` ones its algorithm 2. With scale_rewards α
/// is in units of the rewards' sd, and another currency changes no decision.
class LinUcb final : public BanditPolicy {
 public:
  /// The prior, and how far above the mean an arm is judged.
  struct Options {
    double alpha = 1;            ///< α
    double prior_precision = 1;  ///< λ: A starts at λI (1 in the paper)
    bool intercept = true;
    bool scale_rewards = false;
    RegressionForm regression = RegressionForm::disjoint;
    template <class V>
    void describe(V& v) {
      v("alpha", alpha, "width of the confidence bound", non_negative, "reward, or sd of rewards");
      v("prior_precision", prior_precision, "ridge: what the precision of the coefficients starts at", positive);
      v("intercept", intercept, "whether a constant 1 is added to the context");
      v("scale_rewards", scale_rewards,
        "alpha is in units of the sd of the rewards of uniformly drawn arms, or of those so far where that is not "
        "known")
          .in_older_runs("false");
      describe_regression(v, regression);
    }
  };

  /// Throws Error(usage) for a prior precision that is not above 0, and for regressions over features of arms
  /// (`regression` common or hybrid) where arms have none.
  LinUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// The upper confidence bound of every arm that can be chosen, [choices], valid until the next call or decision.
  std::span<const double> bounds(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  void restore(const Snapshot& snapshot) override;

 private:
  double alpha_;
  std::uint64_t seed_;
  std::optional<RewardUnit> unit_;  ///< none: rewards as they come
  LinearRegressions regressions_;
  std::vector<double> bounds_, propensities_;
};

}  // namespace stein::policies
