// Mean, spread and quantiles of a number over repetitions.
#pragma once

#include <cstddef>
#include <span>

namespace stein::runs {

/// Arithmetic mean; NaN of nothing.
double mean(std::span<const double> values);
/// Standard deviation of a sample (n − 1 in the denominator); NaN of fewer than two values.
double deviation(std::span<const double> values);
/// The `share`-quantile, 0 ≤ share ≤ 1, linear between order statistics (type 7 of Hyndman & Fan 1996); NaN of nothing.
double quantile(std::span<const double> values, double share);
/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom. Up to 30 from a table; above that between
/// entries of the table linear in 1/freedom, which is too large by less than 10⁻⁴. NaN of 0 degrees.
double student_t(std::size_t freedom);
/// Half the width of the interval of 95 % for the mean: t √(s²/n) (Student 1908); NaN of fewer than two values.
double half_width(std::span<const double> values);

}  // namespace stein::runs
