// The draw of a mean-field Gaussian and the way back in SIMD, one pass each, with the noise made a chunk at a time in
// the first-level cache. The arithmetic of mean_field_pass.h in float, from the same ε; fixed splits, so the same bits
// at any thread count.
#pragma once

#include <stein/inference/parameterizations/mean_field_pass.h>

namespace stein::inference::fused {

/// Writes θ = μ + σ ε to rows of `weights`, zeros between them. Reads and writes 12 bytes a weight.
void draw(const MeanField<float>& law, const MeanFieldNoise& noise, std::span<float> weights);

/// Writes the gradients by μ and ρ of draws, entropy and Gaussian prior, as reference::pull_back does. Reads and writes
/// 20 bytes a weight with one draw.
void pull_back(const MeanField<float>& law, const MeanFieldNoise& noise, MatrixView<const float> weight_gradient,
               double precision, std::span<float> mean_gradient, std::span<float> deviation_gradient);

}  // namespace stein::inference::fused
