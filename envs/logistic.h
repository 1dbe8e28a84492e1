// A bandit with rewards 0 and 1 whose probability is logistic in the context.
#pragma once

#include <stein/envs/bandit_environment.h>
#include <stein/envs/linear_scores.h>

#include <vector>

namespace stein::envs {

/// Reward 1 with probability 1 / (1 + exp(−s x·β_a)), else 0, with the contexts and unit-length coefficients of
/// LinearScores.
class Logistic final : public BanditEnvironment {
 public:
  /// Sizes and which coefficients are drawn.
  struct Options {
    std::int64_t arms = 8;
    std::int64_t context_size = 10;
    std::int64_t nonzero = 10;  ///< of context_size coefficients
    double scale = 3;           ///< s
    std::int64_t instance = 0;  ///< which random coefficients
    template <class V>
    void describe(V& v) {
      v("arms", arms, "number of arms", between(2, 1000));
      v("context_size", context_size, "numbers in a context", between(1, 10'000));
      v("nonzero", nonzero, "coefficients of an arm that are not zero, at most context_size", between(1, 10'000));
      v("scale", scale, "length of every arm's coefficients: how far rewards are from a fair coin",
        Range{.low = 0, .high = 1e6, .low_open = true});
      v("instance", instance, "seed of the coefficients", non_negative);
    }
  };

  /// Throws Error(usage) where nonzero > context_size.
  Logistic(const Options& options, const DataSource& source);

  const BanditSpec& spec() const override { return spec_; }
  Context observe(std::uint64_t seed, std::int64_t step) override;
  std::span<const double> expected_rewards() const override { return expected_; }
  double reward(std::int64_t arm) override;

 private:
  double scale_;
  LinearScores scores_;
  BanditSpec spec_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
  std::vector<double> expected_;
};

}  // namespace stein::envs
