// LinUCB with a regression of its own for every arm (Li, Chu, Langford & Schapire 2010, "A contextual-bandit approach
// to personalized news article recommendation", algorithm 1).
#pragma once

#include <stein/policies/arm_regressions.h>
#include <stein/policies/bandit_policy.h>

#include <vector>

namespace stein::policies {

/// Pulls the arm of the largest x·μ_a + α √(xᵀA_a⁻¹x); equals share the probability.
class LinUcb final : public BanditPolicy {
 public:
  /// The prior, and how far above the mean an arm is judged.
  struct Options {
    double alpha = 1;            ///< α
    double prior_precision = 1;  ///< λ: A starts at λI (1 in the paper)
    bool intercept = true;
    template <class V>
    void describe(V& v) {
      v("alpha", alpha, "width of the confidence bound", non_negative, "reward");
      v("prior_precision", prior_precision, "ridge: what the precision of the coefficients starts at", positive);
      v("intercept", intercept, "whether a constant 1 is added to the context");
    }
  };

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
  ArmRegressions regressions_;
  std::vector<double> bounds_, propensities_;
};

}  // namespace stein::policies
