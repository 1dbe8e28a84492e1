// Weights that a model can do without, by their signal to noise.
#pragma once

#include <stein/training/network_weights.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::lm {

/// Where weights of one matrix are pruned, seen from afar: the share that is pruned of each cell of a grid.
struct PrunedMatrix {
  std::string name;             ///< "recurrent0.weight_ih"
  std::int64_t rows, columns;   ///< of the matrix
  std::int64_t down, across;    ///< cells of the grid, which divide rows and columns as evenly as possible
  std::vector<double> share{};  ///< [down, across]
};

/// Weights, and how much each matters: |μ|/σ of a mean-field Gaussian (Graves 2011; Blundell et al. 2015, section 5.1;
/// Fortunato et al. 2017, supplement A.3), |w| of others.
class WeightPruning {
 public:
  /// Ranks the weights, biases and gains of the first particle; what else a method has stays as it is.
  explicit WeightPruning(training::NetworkWeights& weights);

  /// The weights with the given share of the least ones at zero, [1, P], where the particles lie. Throws Error(usage)
  /// unless 0 ≤ share < 1.
  inference::Matrix<float> pruned(double share) const;
  /// How many weights there are to prune.
  std::int64_t count() const { return std::ssize(order_); }
  /// Which weights of a matrix are pruned where that share of all is: [rows, columns] with 1 where one is.
  std::vector<std::uint8_t> pattern(double share, const std::string& entry) const;
  /// The patterns of all matrices of more than one row and column, on grids of at most `cells` rows and columns.
  std::vector<PrunedMatrix> patterns(double share, std::int64_t cells) const;
  /// Whether weights are pruned by |μ|/σ, not by |w|.
  bool by_noise() const { return by_noise_; }

 private:
  std::size_t gone(double share) const;

  inference::Layout layout_;
  inference::Device device_;          ///< of the particles
  inference::Matrix<float> weights_;  ///< [1, P] on the host, means of a variational method
  bool by_noise_ = false;
  std::vector<std::int64_t> order_;  ///< places in the row, the least first
};

}  // namespace stein::lm
