// The middle of some numbers.
#pragma once

#include <span>

namespace stein {

/// Median as numpy counts it: the mean of the two middle values where their number is even. Reorders `values`.
/// @param values  at least one
double median(std::span<double> values);

}  // namespace stein
