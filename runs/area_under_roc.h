// How well a number tells two groups apart.
#pragma once

#include <span>

namespace stein::runs {

/// The area under the receiver operating characteristic: how often a number of `higher`, drawn at random, is larger
/// than one of `lower`, equal ones counted half (Mann & Whitney 1947). Throws Error(usage) where a group is empty.
double area_under_roc(std::span<const double> lower, std::span<const double> higher);

}  // namespace stein::runs
