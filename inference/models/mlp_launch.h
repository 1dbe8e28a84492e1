// A launch of perceptrons on a device as data: the network, the rows, where everything lies. Numbers and addresses
// only.
#pragma once

#include <stein/core/host_device.h>
#include <stein/inference/models/mlp_spec.h>

#include <cstdint>

namespace stein::inference {

/// Where the layers of a perceptron lie in a row of its weights (mlp_layout without padding): of every layer the matrix
/// [inputs, outputs] and behind it the biases, as if they were its row number `inputs`.
struct MlpShape {
  static constexpr int most_layers = 8;
  /// One layer.
  struct Layer {
    int inputs, outputs;
    int weight;  ///< place of the matrix in the row
  };
  Layer layer[most_layers]{};
  int layers = 0;
  int size = 0;  ///< P: numbers in a row
  Activation activation = Activation::relu;
  Likelihood likelihood = Likelihood::gaussian;
  double noise_precision = 1;    ///< where it is given
  int log_noise_precision = -1;  ///< place of its logarithm, −1: it is given
  int constant = 0, constants = 0;

  MlpShape() = default;
  /// Throws Error(usage) where there are more than `most_layers` layers, or more than 2³⁰ weights.
  explicit MlpShape(const MlpSpec& spec);

  STEIN_HOST_DEVICE int inputs() const { return layer[0].inputs; }
  STEIN_HOST_DEVICE int outputs() const { return layer[layers - 1].outputs; }
};

/// What networks see, on the device. n rows, cut into tiles; what every particle has of its own lies particle by
/// particle.
struct MlpRows {
  std::int64_t rows = 0;               ///< n
  const float* dense = nullptr;        ///< [·n, inputs]; null: positions
  const std::int32_t* ones = nullptr;  ///< [·n, ones_in_row]
  int ones_in_row = 0;
  /// For every tile of rows and every input, where its rows begin in `members`: [·tiles, inputs + 1].
  const std::int32_t* starts = nullptr;
  const std::int32_t* members = nullptr;  ///< rows that have a one, counted from the first of their tile
  const float* targets = nullptr;         ///< [·n, target_columns]
  int target_columns = 0;
  const std::int32_t* outputs = nullptr;  ///< [n] the one that is trained; null: all
  const float* weights = nullptr;         ///< [·n] of the rows; null: 1
  /// [m·n, outputs] slopes of the outputs, network by network, that somebody else gives; null: the likelihood's.
  const float* slopes = nullptr;
  const float* constant_slopes = nullptr;                             ///< [m, constants], beside slopes
  bool own_inputs = false, own_targets = false, own_weights = false;  ///< every particle has its own
};

/// How a launch divides its work. A block takes one network through a share of the tiles, one tile after the other.
struct MlpTiling {
  int rows = 0;             ///< of a tile, a multiple of 4
  std::int64_t tiles = 0;   ///< of the batch
  std::int64_t shares = 0;  ///< of the tiles
  bool whole = true;        ///< the weights lie in the memory that a block shares; else where they are
  int pitch = 0;            ///< from one unit of all rows to the next: the rows and four more, for the banks
  int weight[MlpShape::most_layers]{};  ///< in shared memory: a layer's matrix and its biases, rows padded to four
  int units[MlpShape::most_layers]{};   ///< a layer's outputs and then their slopes, [outputs padded to four, pitch]
  int inputs = 0;                       ///< [inputs padded to four, pitch], or positions [ones_in_row, pitch]
  int turned = 0;                       ///< slopes of layer 0 for positions, [rows, outputs padded to four]
  int sums = 0;                         ///< doubles: value and slope of log γ of every row, then their totals
  int size = 0;                         ///< floats that a block shares
};

/// Divides `rows` rows for a network so that a block shares at most `most_bytes`: with its weights if they leave room
/// for 16 rows, else without.
/// @param ones      of a row; 0: dense
/// @param backward  the shares make gradients, which are added up; else every tile is a share
/// @throws Error(usage) naming the network where even four rows of it have no room
MlpTiling tile(const MlpShape& shape, std::int64_t rows, int ones, bool backward, std::int64_t most_bytes);

/// Whether a block that shares at most `most_bytes` has room for the weights of a network and 16 rows of dense inputs.
/// Larger networks are products of matrices, layer by layer (MlpLayers), where a device has them.
bool weights_fit(const MlpShape& shape, std::int64_t most_bytes);

/// Memory of the device for a pass layer by layer, over chunks of rows.
struct MlpLayers {
  std::int64_t rows = 0;       ///< of a chunk
  float* units = nullptr;      ///< of every layer [m, rows, outputs], layer by layer; null: no such pass
  float* slopes = nullptr;     ///< [m, rows, widest layer but the last]
  float* inputs = nullptr;     ///< [·, rows, inputs] ones as dense rows, of every network if own; null: none
  double* row_sums = nullptr;  ///< [m, rows, 2] log-likelihood of each row, and its slope of log γ
  Precision precision = Precision::single;  ///< of products
};

/// Everything that a kernel is told. With `outputs` the networks predict, else they score their rows.
struct MlpLaunch {
  MlpShape shape{};
  MlpRows rows{};
  MlpTiling tiling{};
  std::int64_t networks = 0;  ///< m: rows of weights
  std::int64_t samples = 1;   ///< rows of weights that stand for one particle
  const float* weights = nullptr;
  std::int64_t weight_stride = 0;  ///< a multiple of 4, as that of a gradient
  double scale = 1;                ///< N/n
  float* outputs = nullptr;        ///< [m·n, K]
  float* gradient = nullptr;       ///< [m, P]; null: not wanted
  std::int64_t gradient_stride = 0;
  float* shares = nullptr;  ///< [shares, m, P padded to four] gradients of the shares, where there are several
  MlpLayers layers{};       ///< with `units` it is a pass layer by layer, in one share, and the tiling says nothing
  double* sums = nullptr;   ///< [shares, m, 2]: log-likelihood and its slope of log γ; null: neither is wanted

  STEIN_HOST_DEVICE std::int64_t blocks() const { return tiling.shares * networks; }
  /// Numbers from one gradient of `shares` to the next.
  STEIN_HOST_DEVICE std::int64_t padded_size() const { return (std::int64_t{shape.size} + 3) / 4 * 4; }
};

}  // namespace stein::inference
