// Variational matrix Gaussians: the noise of a weight matrix has a scale for every row and every column.
#pragma once

#include <stein/inference/parameterizations/mean_field_gaussian.h>

namespace stein::inference {

/// W = M + diag(u) E diag(v) with E of independent unit normals, so vec W ~ N(vec M, diag v² ⊗ diag u²) (Louizos &
/// Welling 2016, with diagonal covariances; the baseline VMG of Zhang et al. 2018). Its divergence from N(0, I) for
/// W [p, d] is ½(Σu² Σv² + ‖M‖² − pd − 2d Σ log u − 2p Σ log v). Biases and gains are mean-field Gaussians. The paper's
/// pseudo-data are left out.
///
/// Coordinates: M under the names of the weights, `NAME.log_scale_left` [p], log u, and `NAME.log_scale_right` [d],
/// log v, of every matrix, `NAME.log_deviation` of every bias and gain. Every scale of a matrix starts at the root of
/// one deviation drawn between the bounds.
template <class Scalar>
class VariationalMatrixGaussian final : public VariationalFamily<Scalar> {
 public:
  /// @param device  where coordinates and weights lie
  /// @throws the errors of VariationalFamily
  VariationalMatrixGaussian(Layout weights, const VariationalOptions& options, Device device = {});
};

}  // namespace stein::inference
