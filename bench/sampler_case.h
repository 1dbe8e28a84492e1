// The samplers and optimizers whose update of a long vector is measured, on the processor and on a GPU.
#pragma once

#include <stein/inference/samplers/sampler_registry.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stein::bench {

/// A sampler of one row of parameters, and the memory that its update goes over.
struct SamplerCase {
  std::string name;
  /// A parameter: values, gradient and state, each read once and, but for the gradient, written once.
  double bytes;
  inference::SamplerChoice sampler;
};

/// Momentum SGD, RMSprop, Adam; SGLD, pSGLD, SGHMC, SGNHT, Santa.
const std::vector<SamplerCase>& sampler_cases();

/// The case of a name. Throws Error(usage) where there is none.
const SamplerCase& sampler_case(std::string_view name);

/// Throws Error(numeric) unless two forms of an update have moved a vector the same way: to 1e-4 of how far it went.
/// @param benchmark  and `name`, of the case: what the error begins with
/// @param start      [Q], where both began; as many are where `ours` and `reference` ended
void check_same_move(std::string_view benchmark, std::string_view name, std::span<const float> start,
                     std::span<const float> ours, std::span<const float> reference);

}  // namespace stein::bench
