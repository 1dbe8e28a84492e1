// How policies of confidence bounds choose: the arm of the largest one.
#pragma once

#include <stein/core/rng.h>
#include <stein/policies/bandit_policy.h>

#include <span>
#include <vector>

namespace stein::policies {

/// The arm whose bound [choices] is the largest; equals share the probability. @param key  of the draw among equals
/// @param propensities  memory for those of the decision
Decision choose_largest(const envs::Context& context, std::span<const double> bounds, const NoiseKey& key,
                        Propensities wanted, std::vector<double>& propensities);

}  // namespace stein::policies
