// Long vectors: the few operations that every particle goes through, float ones in SIMD.
#pragma once

#include <cstdint>
#include <span>

namespace stein::inference {

/// gradient ← gradient − scale · values; returns Σ values² as sum_of_squares does. The same bits on every SIMD target.
double subtract_scaled(std::span<const float> values, float scale, std::span<float> gradient);
double subtract_scaled(std::span<const double> values, double scale, std::span<double> gradient);

/// Σ values² in a fixed order, the same bits on every SIMD target; not finite if any value is not. Of floats in 16
/// lanes that are added up in double every 4,096 values: right to 1e-5 at any length, unless a square leaves float's
/// range.
double sum_of_squares(std::span<const float> values);
double sum_of_squares(std::span<const double> values);

/// values ← scale · values, each product rounded once; on all threads.
void multiply(std::span<float> values, double scale);

/// Whether all values are finite; one pass, on all threads.
bool all_finite(std::span<const float> values);
bool all_finite(std::span<const double> values);

/// Copies `rows` rows of `columns` numbers that lie end to end to rows `stride` ≥ columns apart, zeros between them.
void spread_rows(const float* from, std::int64_t rows, std::int64_t columns, float* to, std::int64_t stride);
void spread_rows(const double* from, std::int64_t rows, std::int64_t columns, double* to, std::int64_t stride);

/// The reverse of spread_rows.
void pack_rows(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to);
void pack_rows(const double* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, double* to);

}  // namespace stein::inference
