// Mean, spread and quantiles of a number over repetitions.
#pragma once

#include <span>

namespace stein::runs {

/// Arithmetic mean; NaN of nothing.
double mean(std::span<const double> values);
/// Standard deviation of a sample (n − 1 in the denominator); NaN of fewer than two values.
double deviation(std::span<const double> values);
/// The `share`-quantile, 0 ≤ share ≤ 1, linear between order statistics (type 7 of Hyndman & Fan 1996); NaN of nothing.
double quantile(std::span<const double> values, double share);

}  // namespace stein::runs
