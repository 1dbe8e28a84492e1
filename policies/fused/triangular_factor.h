// Triangular factors of regressions in SIMD.
#pragma once

#include <stein/policies/triangular_factor.h>

namespace stein::policies::fused {

/// As reference::eliminate does.
void eliminate(const Elimination& work);

/// As reference::rotate_in does.
void rotate_in(double* factor, const FactorShape& shape, double* row);

/// As reference::add_products does.
void add_products(double* sums, const FactorShape& shape, const double* rows, std::size_t count);

/// As reference::factorise does.
bool factorise(double* sums, const FactorShape& shape);

}  // namespace stein::policies::fused
