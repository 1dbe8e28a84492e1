// How noisy the rewards of every arm are, learned from what was predicted before they came.
#pragma once

#include <stein/core/options.h>
#include <stein/core/snapshot.h>

#include <cstdint>
#include <vector>

namespace stein::policies {

/// The precision γ_a of each arm's rewards around their expectation, γ_a ~ Gamma(a₀, b₀) and conjugate to residuals:
/// after n one-step-ahead residuals r (the reward minus what was predicted before it was seen) γ_a ~ Gamma(a₀ + n/2,
/// b₀ + ½ Σ r²), whose mean is what `precision` says. Residuals hold the error of the prediction too, large at first:
/// so a residual k interactions of its arm ago counts exp(−k/memory).
class ArmNoise {
 public:
  /// The prior, and how long residuals count.
  struct Options {
    double noise_shape = 1;      ///< a₀; b₀ is a₀ / noise_precision
    double noise_memory = 1000;  ///< 0: for ever
    template <class V>
    void describe(V& v) {
      v("noise_shape", noise_shape,
        "a0 of the gamma prior of an arm's noise precision, of which noise_precision is the mean, under noise_per_arm",
        positive)
          .in_older_runs("1");
      v("noise_memory", noise_memory,
        "interactions of an arm after which a residual counts 1/e, under noise_per_arm; 0: all count alike",
        non_negative, "interactions")
          .in_older_runs("1000");
    }
  };

  /// @param mean  of γ_a before any residual, 1 / squared unit of the residuals
  ArmNoise(const Options& options, std::int64_t arms, double mean);

  void observe(std::int64_t arm, double residual, double weight = 1);
  /// The posterior mean of γ_a.
  double precision(std::int64_t arm) const;

  void save(Snapshot& snapshot) const;
  /// Throws Error(data) if the saved state does not fit.
  void restore(const Snapshot& snapshot);

 private:
  double shape_, rate_, decay_;
  std::vector<double> counts_, squares_;  ///< [arms] n and Σ r², discounted
};

}  // namespace stein::policies
