// Weights of a trained network as the start of another training.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix.h>
#include <stein/training/network_weights.h>

namespace stein::training {

/// One set of weights, on the host.
struct StartingWeights {
  inference::Layout layout;
  inference::Matrix<float> weights;  ///< [1, P] as the layout has them
  inference::Matrix<float> buffers;  ///< [1, B]
  Snapshot meaning{};                ///< of inputs and outputs (EpochTrainer::Saved), where it is known
};

/// The weights of the first particle as they are, of a variational method their mean, with what belongs to them.
StartingWeights starting_weights(NetworkWeights& from);

/// Every particle of `to` becomes these weights, of a mean-field Gaussian the means; what it has besides stays as it
/// starts.
/// @param meaning  of the inputs and outputs of `to`
/// @throws Error(usage) naming what differs where the weights are of another network, for structured weights, which are
///         not told by their product, and where both meanings name words or classes, and not the same ones in the same
///         order: number 3 would be another word
void begin_with(const StartingWeights& start, NetworkWeights& to, const Snapshot& meaning = {});

}  // namespace stein::training
