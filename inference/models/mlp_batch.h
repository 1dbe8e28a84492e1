// Whether a batch fits a network: one set of sentences for every driver of the perceptron.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>

#include <cstdint>

namespace stein::inference {

/// Throws Error(usage) naming what does not fit unless `inputs` are rows for the network `spec`: dense [·, inputs], or
/// positions [·, A] of which each lies in [0, inputs); no tokens.
template <class Scalar>
void check_inputs(const MlpSpec& spec, const Inputs<Scalar>& inputs);

/// Throws Error(usage) naming what does not fit unless `batch` can be scored by `particles` networks `spec`: inputs as
/// above; targets [·, outputs], or one column where `batch.outputs` chooses an output or the likelihood is categorical
/// (classes in [0, outputs)), in [0, 1] where it is Bernoulli; chosen outputs in [0, outputs) and not with a
/// categorical likelihood; one weight a row, or a row and particle; none of these where the batch has a score of its
/// own; an input mask only over dense inputs; no carried state; n ≥ 1, N > 0.
template <class Scalar>
void check_batch(const MlpSpec& spec, const Batch<Scalar>& batch, std::int64_t particles);

extern template void check_inputs(const MlpSpec&, const Inputs<float>&);
extern template void check_inputs(const MlpSpec&, const Inputs<double>&);
extern template void check_batch(const MlpSpec&, const Batch<float>&, std::int64_t);
extern template void check_batch(const MlpSpec&, const Batch<double>&, std::int64_t);

}  // namespace stein::inference
