// A small perceptron as data for kernels: where its weights lie.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/models/mlp_spec.h>

#include <cstdint>

namespace stein::agents {

/// Where the layers of a perceptron lie in a row of weights, and in the memory that a block shares, where nothing is
/// padded: of every layer the matrix [inputs, outputs], then its biases; constants last.
struct PerceptronShape {
  static constexpr int most_layers = 6;
  /// One layer.
  struct Layer {
    int inputs, outputs;
    int weight, bias, stride;  ///< in a row of weights; rows of the matrix are `stride` apart
    int shared;                ///< in shared memory
  };
  Layer layer[most_layers]{};
  int layers = 0;  ///< 0: there is no network
  bool relu = false;
  int constants = 0, constant = 0, shared_constant = 0;  ///< how many, and where
  int size = 0;                                          ///< numbers in shared memory, a multiple of 4
  int widest = 0;                                        ///< outputs of the widest layer

  PerceptronShape() = default;
  /// From the layout of its weights, as mlp_layout makes it.
  /// Throws Error(usage) where it has more than `most_layers` layers.
  PerceptronShape(const inference::Layout& layout, inference::Activation activation);
};

}  // namespace stein::agents
