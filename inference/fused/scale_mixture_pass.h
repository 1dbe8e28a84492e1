// The mixture of two Gaussians in SIMD on all threads: the arithmetic of scale_mixture_pass.h in float.
#pragma once

#include <stein/inference/priors/scale_mixture_pass.h>

#include <cstdint>
#include <span>

namespace stein::inference::fused {

/// What reference::add_scale_mixture does. Reads 4 bytes a weight, and with a gradient reads and writes 8 more; the
/// same bits at any thread count. Terms are added in float, as many running sums as a vector has numbers, which are
/// added up in double every 4,096 weights.
double add_scale_mixture(const ScaleMixture& law, std::span<const float> weights, std::span<float> gradient);

}  // namespace stein::inference::fused
