// How much of their spread particles have kept: SVGD with the RBF median kernel loses variance in high dimension (Ba et
// al. 2022).
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix_view.h>

namespace stein::inference {

/// Marginal variance over particles (with 1/M), averaged over all coordinates with `role`; 0 for one particle. Divided
/// by what it was before the first update it is the collapse meter: 1 at the start, near 0 where all particles agree.
/// Throws Error(usage) if the layout has no such coordinate.
double mean_variance(MatrixView<const float> values, const Layout& layout, Role role);

}  // namespace stein::inference
