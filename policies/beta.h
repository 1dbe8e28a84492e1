// Beta variables: draws, and how likely each of several is the largest; both by their log odds, whose density is smooth
// on the whole line for every shape.
#pragma once

#include <stein/policies/largest_probability.h>

#include <span>

namespace stein {
class Draws;
}

namespace stein::policies {

/// X ~ Beta(successes, failures), with density ∝ x^(successes − 1) (1 − x)^(failures − 1) on (0, 1).
struct Beta {
  double successes = 1;
  double failures = 1;

  double mean() const { return successes / (successes + failures); }
};

/// log(X / (1 − X)) of one value X of the variable: the difference of the logarithms of two gamma variables. Finite
/// also where X itself would round to 0 or 1.
double draw_log_odds(const Beta& variable, Draws& draws);

/// The density of the log odds of a variable, as LargestProbability asks for it: that of t = log(x / (1 − x)) is
///   x^a (1 − x)^b / B(a, b),  with its mode at log(a / b) and the curvature ab / (a + b) of −log there.
class BetaDensity {
 public:
  explicit BetaDensity(const Beta& variable);

  double low() const { return low_; }
  double high() const { return high_; }
  /// One sd of the mode's curvature away, but at most 1: log odds have a pole at ±iπ. In a tail that falls more slowly,
  /// as e^(−a |t|) does for a < 1, as far as from the mode, halving that on the way in, but at most 1/a.
  double panel_end(double t) const;
  double operator()(double t) const { return peak_ * ratio(t - mode_); }

 private:
  /// Density at mode + distance by that at the mode. Written with the distance, so that nothing large cancels.
  double ratio(double distance) const;

  Beta variable_;
  double mode_, width_, peak_;
  double low_, high_;
};

/// Writes to `probabilities` the probability that each of the independent `variables` is the largest, with an absolute
/// error below 1e-8; they sum to 1. Throws Error(usage) unless there is at least one variable, as many probabilities,
/// and both numbers of every variable lie between 0.01 and 1e12.
/// @param pass  memory that is used again: calls for no more variables than before allocate nothing
void largest_probabilities(std::span<const Beta> variables, std::span<double> probabilities,
                           LargestProbability<BetaDensity>& pass);

}  // namespace stein::policies
