// Weights of a trained network as the start of another training.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix.h>
#include <stein/training/network_weights.h>

namespace stein::training {

/// One set of weights, on the host.
struct StartingWeights {
  inference::Layout layout;
  inference::Matrix<float> weights;  ///< [1, P] as the layout has them
  inference::Matrix<float> buffers;  ///< [1, B]
};

/// The weights of the first particle as they are, of a variational method their mean, with what belongs to them.
StartingWeights starting_weights(NetworkWeights& from);

/// Every particle of `to` becomes these weights, of a mean-field Gaussian the means; what it has besides stays as it
/// starts. Throws Error(usage) naming what differs where they are of another network, and for structured weights, which
/// are not told by their product.
void begin_with(const StartingWeights& start, NetworkWeights& to);

}  // namespace stein::training
