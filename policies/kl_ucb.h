// KL-UCB (Garivier & Cappé 2011, "The KL-UCB algorithm for bounded stochastic bandits and beyond", algorithm 1).
#pragma once

#include <stein/policies/bandit_policy.h>

#include <cstdint>
#include <vector>

namespace stein::policies {

/// The largest q in [mean, 1] with d(mean, q) ≤ level, to 1e-12, where
///   d(p, q) = p log(p / q) + (1 − p) log((1 − p) / (1 − q))
/// is the Kullback–Leibler divergence of Bernoulli variables, in nats. Newton's method in q − mean, held in a bracket
/// that Pinsker's inequality, d ≥ 2 (q − p)², begins. @param mean  in [0, 1] @param level  ≥ 0
double bernoulli_upper_bound(double mean, double level);

/// Pulls the arm of the largest q with N_a d(r̄_a, q) ≤ log t + c log log t, with N_a its pulls, r̄_a the mean of their
/// rewards and t − 1 those of all arms; log log t counts as 0 where it is negative. Arms that were never pulled come
/// first, equals share the probability. Rewards lie in [0, 1] and need not be 0 or 1: the bound of a Bernoulli variable
/// holds for all of them. The context plays no part. An interaction of weight w counts as w pulls.
class KlUcb final : public BanditPolicy {
 public:
  /// How far above the mean an arm is judged.
  struct Options {
    double c = 0;  ///< the paper's proof has 3, its experiments 0
    template <class V>
    void describe(V& v) {
      v("c", c, "weight of log log t in the confidence level; 3 in the paper's proof, 0 in its experiments",
        non_negative);
    }
  };

  /// Throws Error(usage) naming the bandit where expected rewards lie outside [0, 1].
  KlUcb(const Options& options, const envs::BanditSpec& spec, std::uint64_t seed);

  Decision decide(const envs::Context& context, std::int64_t step, Propensities wanted) override;
  /// Throws Error(usage) for a reward outside [0, 1], too.
  void observe(const envs::Context& context, const Outcome& outcome) override;
  /// The upper confidence bound of every arm that can be chosen, [choices], infinite for one that was never pulled;
  /// valid until the next call or decision.
  std::span<const double> bounds(const envs::Context& context);

  void save(Snapshot& snapshot) const override;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot) override;

 private:
  double c_;
  envs::BanditSpec spec_;
  std::uint64_t seed_;
  std::vector<double> pulls_, rewards_;  ///< [arms] sums of weights, and of rewards times weights
  double total_ = 0;                     ///< pulls of all arms
  std::vector<double> bounds_, propensities_;
};

}  // namespace stein::policies
