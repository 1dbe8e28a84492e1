// An interval for a mean that holds at every time at once, so that one may look as often as one likes.
#pragma once

#include <stein/core/snapshot.h>

#include <array>
#include <cstdint>

namespace stein::replay {

/// The ends of an interval.
struct Interval {
  double low = 0, high = 0;
};

/// An empirical-Bernstein confidence sequence for the mean of bounded observations (Howard, Ramdas, McAuliffe & Sekhon
/// 2021, "Time-uniform, nonparametric, nonasymptotic confidence sequences", theorem 4).
///
/// Observations X_t may depend on all before them. With their conditional means μ_t, guesses g_t made before X_t, and
/// V_t = Σ (X_i − g_i)² (everything scaled to [0, 1]), the probability that at any time t ≥ 1
///   |Σ X_i − Σ μ_i| > min over k of (log(2 / (α w_k)) + ψ(λ_k) V_t) / λ_k,  ψ(λ) = −log(1 − λ) − λ,
/// is at most α: for every λ in (0, 1) exp(λ Σ(X_i − μ_i) − ψ(λ) V_t) is a supermartingale (Fan, Grama & Liu 2015,
/// lemma 4.1), and weights w_k that sum to 1 share α between λ_k = 0.9 · 2^(−k/2). So it covers the mean of the
/// conditional means so far, whether these change or not.
class ConfidenceSequence {
 public:
  /// @param low, high  between which every observation lies
  /// @param level      1 − α, in (0, 1)
  /// @throws Error(usage)  unless low < high and 0 < level < 1
  ConfidenceSequence(double low, double high, double level = 0.95);

  /// Throws Error(usage) for an observation that is not between `low` and `high`.
  void add(double observation);

  std::int64_t count() const { return count_; }
  /// Of the observations; the middle of their range before there is one.
  double mean() const;
  /// Within [low, high]; all of it before there is an observation.
  Interval interval() const;

  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  double low_, width_, miss_;
  std::int64_t count_ = 0;
  double sum_ = 0;      ///< of the scaled observations
  double squares_ = 0;  ///< V, of their distances from the guesses
};

}  // namespace stein::replay
