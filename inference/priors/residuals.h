// How far a network's outputs are from what they should be: what a noise variance that is no coordinate is learned by.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/particles.h>

namespace stein::inference {

template <class Scalar>
class Model;

/// Of one row of weights on one batch, both scaled by N/n.
struct Residuals {
  double squares = 0;  ///< (N/n) Σ_i w_i Σ_k (y_ik − f_k(x_i))², over the chosen output where the batch chooses one
  double count = 0;    ///< (N/n) Σ_i w_i, times the number of outputs that count
};

/// The residuals of a Gaussian likelihood, from the outputs that `model` predicts (without dropout, which a prediction
/// has not) from inputs under the batch's mask.
/// @param weights  [S, P]: samples of one row's weights, over which the squares are averaged
/// @param batch    what that row sees (`share_of`)
/// @throws Error(usage) if its mask does not fit the inputs, or its targets do not fit the model's outputs
template <class Scalar>
Residuals residuals_of(Model<Scalar>& model, const ParticleRows<const Scalar>& weights, const Batch<Scalar>& batch);

}  // namespace stein::inference
