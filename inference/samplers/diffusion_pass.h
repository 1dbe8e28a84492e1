// One step of a stochastic-gradient MCMC dynamics as loops, for any Scalar: the reference of
// fused/diffusion_pass.h, with the same bits in float.
#pragma once

#include <stein/inference/samplers/diffusion.h>

namespace stein::inference::reference {

/// Moves all values and states by one step.
template <class Scalar>
void diffuse(const DiffusionStep<Scalar>& step, DiffusionResult& result);

}  // namespace stein::inference::reference
