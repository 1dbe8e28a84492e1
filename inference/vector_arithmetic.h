// Long vectors: the few operations that every particle goes through, float ones in SIMD.
#pragma once

#include <span>

namespace stein::inference {

/// gradient ← gradient − scale · values; returns Σ values². The sum runs in a fixed order.
float subtract_scaled(std::span<const float> values, float scale, std::span<float> gradient);
double subtract_scaled(std::span<const double> values, double scale, std::span<double> gradient);

/// Σ values² in a fixed order; not finite if any value is not.
double sum_of_squares(std::span<const float> values);
double sum_of_squares(std::span<const double> values);

}  // namespace stein::inference
