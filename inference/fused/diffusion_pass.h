// One step of a stochastic-gradient MCMC dynamics in SIMD: one pass over values, gradients and state, the noise made in
// registers. The same bits as diffusion_pass.h in float, at any thread count.
//
// Rows start on cache lines, as those of `Particles` do.
#pragma once

#include <stein/inference/samplers/diffusion.h>

namespace stein::inference::fused {

/// Moves all values and states by one step.
void diffuse(const DiffusionStep<float>& step, DiffusionResult& result);

}  // namespace stein::inference::fused
