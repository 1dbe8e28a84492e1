// What the linear, sparse linear and logistic bandits share: random contexts, random coefficients, a score for every
// arm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stein::envs {

/// Scores x·β_a of every arm a. The coefficients β_a are fixed by `instance` (Stream::environment): the chosen columns
/// uniform on [−1, 1], the vector then scaled to unit length. Contexts x are uniform on the cube [−√3, √3]^d, so every
/// column has mean 0 and variance 1 (Stream::context).
class LinearScores {
 public:
  /// `nonzero` columns, drawn for each arm, carry the coefficients. Throws Error(usage) unless 1 ≤ nonzero ≤
  /// context_size.
  LinearScores(std::int64_t arms, std::int64_t context_size, std::int64_t nonzero, std::uint64_t instance);

  /// Draws the context of interaction `step` of the stream `seed` and computes the scores.
  void observe(std::uint64_t seed, std::int64_t step);
  std::span<const float> context() const { return context_; }
  /// x·β_a of the present context, [arms].
  std::span<const double> scores() const { return scores_; }
  /// Coefficients, [arms, context_size].
  std::span<const double> coefficients() const { return coefficients_; }
  /// The largest |x·β_a| that a context of the cube can give: √3 max_a ‖β_a‖₁.
  double largest_score() const;

 private:
  std::vector<double> coefficients_;
  std::vector<float> context_;
  std::vector<double> scores_;
};

}  // namespace stein::envs
