// Bandits whose expected reward is linear in the context (after the linear and sparse linear bandits of Riquelme,
// Tucker & Snoek 2018, with bounded contexts).
#pragma once

#include <stein/envs/bandit_environment.h>
#include <stein/envs/linear_scores.h>

namespace stein::envs {

/// Reward x·β_a + σξ with the contexts and unit-length coefficients of LinearScores.
class Linear : public BanditEnvironment {
 public:
  /// Sizes, noise and which coefficients are drawn.
  struct Options {
    std::int64_t arms = 8;
    std::int64_t context_size = 10;
    double noise = 0.1;         ///< σ
    std::int64_t instance = 0;  ///< which random coefficients
    template <class V>
    void describe(V& v) {
      v("arms", arms, "number of arms", between(2, 1000));
      v("context_size", context_size, "numbers in a context", between(1, 10'000));
      v("noise", noise, "standard deviation of every reward", non_negative, "reward");
      v("instance", instance, "seed of the coefficients", non_negative);
    }
  };

  Linear(const Options& options, const DataSource& source);

  const BanditSpec& spec() const override { return spec_; }
  Context observe(std::uint64_t seed, std::int64_t step) override;
  std::span<const double> expected_rewards() const override { return scores_.scores(); }
  double reward(std::int64_t arm) override;
  /// β, [arms, context_size].
  std::span<const double> coefficients() const { return scores_.coefficients(); }

 protected:
  Linear(const Options& options, std::int64_t nonzero, std::string name);

 private:
  double noise_;
  LinearScores scores_;
  BanditSpec spec_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
};

/// The same with few coefficients of each arm other than zero.
class SparseLinear final : public Linear {
 public:
  /// Those of the dense bandit, and how many coefficients count.
  struct Options : Linear::Options {
    std::int64_t nonzero = 3;  ///< of context_size coefficients
    template <class V>
    void describe(V& v) {
      Linear::Options::describe(v);
      v("nonzero", nonzero, "coefficients of an arm that are not zero, at most context_size", between(1, 10'000));
    }
  };

  /// Throws Error(usage) where nonzero > context_size.
  SparseLinear(const Options& options, const DataSource& source);
};

}  // namespace stein::envs
