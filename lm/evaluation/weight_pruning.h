// Weights that a model can do without, by their signal to noise.
#pragma once

#include <stein/training/weight_sampler.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::lm {

/// Weights, and how much each matters: |μ|/σ of a mean-field Gaussian (Graves 2011; Blundell et al. 2015, section 5.1;
/// Fortunato et al. 2017, supplement A.3), |w| of others.
class WeightPruning {
 public:
  /// Of the first particle. Weights, biases and gains count; what else a method has stays as it is.
  explicit WeightPruning(training::WeightSampler& weights);

  /// The weights with the given share of the least ones at zero. Throws Error(usage) unless 0 ≤ share < 1.
  std::vector<float> pruned(double share) const;
  /// How many weights there are to prune.
  std::int64_t count() const { return std::ssize(order_); }
  /// Of the share of all weights that is pruned, what is pruned of each matrix: [rows, columns] with 1 where it is.
  std::vector<std::uint8_t> pattern(double share, const std::string& entry) const;

 private:
  std::size_t gone(double share) const;

  inference::Layout layout_;
  std::vector<float> weights_;       ///< [P], means of a variational method
  std::vector<std::int64_t> order_;  ///< places in the row, the least first
};

}  // namespace stein::lm
