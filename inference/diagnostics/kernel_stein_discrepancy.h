// How far samples are from a density that is known up to a constant.
#pragma once

#include <stein/inference/storage/matrix_view.h>

namespace stein::inference {

/// Kernel Stein discrepancy with the inverse multiquadric kernel (c² + ‖x − y‖²)^(−½) (Gorham & Mackey 2017): the root
/// of the mean over all pairs, a sample with itself included, of k₀(x, y). It falls to 0 as 1/√n if and only if the
/// samples follow the density; O(n² d).
/// @param samples  [n, d]
/// @param scores   [n, d] ∇ log p at the samples
/// @param scale    c, in units of the samples
/// @throws Error(usage) unless shapes fit, n ≥ 1 and c > 0
double kernel_stein_discrepancy(MatrixView<const double> samples, MatrixView<const double> scores, double scale = 1);

}  // namespace stein::inference
