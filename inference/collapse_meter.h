// How much of their spread particles have kept: SVGD with the RBF median kernel loses variance in high dimension (Ba et
// al. 2022).
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/matrix_view.h>

namespace stein::inference {

/// Marginal variance over particles (with 1/M), averaged over all coordinates with `role`, divided by
/// `reference_variance`, that of the prior, say: 1 where data say nothing and nothing has collapsed, near 0 where all
/// particles agree. 0 for one particle. Throws Error(usage) if the layout has no such coordinate or the reference
/// variance is not > 0.
double variance_ratio(MatrixView<const float> values, const Layout& layout, Role role, double reference_variance);

}  // namespace stein::inference
