// How sparse a network is: weights that are zero, layer by layer, and what that saves.
#pragma once

#include <stein/training/network_weights.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stein::training {

/// One parameter that is made sparse.
struct LayerSparsity {
  std::string name;
  std::int64_t rows = 0, weights = 0, left = 0;  ///< rows of the matrix; all its weights; those that are not zero
  std::int64_t uses = 1;                         ///< LayoutEntry::uses
  double slab_share = 0;                         ///< δ
  std::vector<double> slab_probabilities{};      ///< [20] share of the weights with ρ in each twentieth from 0 to 1

  /// Multiplications for one row of inputs, by weights that are not zero.
  std::int64_t operations() const { return weights * uses; }
  std::int64_t operations_left() const { return left * uses; }
  /// Of a matrix of floats.
  std::int64_t bytes() const { return 4 * weights; }
  /// In the shorter form: all of its weights, or in compressed rows (CSR) a float and a 32-bit column for each that is
  /// left, and where rows begin.
  std::int64_t bytes_left() const;
};

/// Of the first particle's weights and latent variables as they are.
struct NetworkSparsity {
  std::vector<LayerSparsity> layers;                 ///< those that are made sparse
  std::int64_t parameters = 0, parameters_left = 0;  ///< of the whole network, biases included
  std::int64_t other_operations = 0;                 ///< of matrices that are not made sparse
  double sigma = 0;                                  ///< σ of the spike and of the slab

  /// Share of zeros among the weights of `layers`.
  double sparsity() const;
  std::int64_t operations() const;
  std::int64_t operations_left() const;
  std::int64_t bytes() const;
  std::int64_t bytes_left() const;
};

/// Throws Error(usage) unless the method makes weights sparse.
NetworkSparsity sparsity_of(NetworkWeights& weights);

}  // namespace stein::training
