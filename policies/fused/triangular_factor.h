// Triangular factors of regressions in SIMD.
#pragma once

#include <stein/policies/triangular_factor.h>

namespace stein::policies::fused {

/// As reference::eliminate does.
void eliminate(const Elimination& work);

/// As reference::rotate_in does.
void rotate_in(double* factor, const FactorShape& shape, double* row);

}  // namespace stein::policies::fused
