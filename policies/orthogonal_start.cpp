#include <stein/policies/orthogonal_start.h>

#include <Eigen/Dense>

namespace stein::policies {
namespace {

/// The orthonormal columns of the QR decomposition of `normals` [p, d], p ≥ d, whose R has a positive diagonal: without
/// that the distribution would not be uniform.
Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& normals) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> decomposition(normals);
  Eigen::MatrixXd columns = decomposition.householderQ() * Eigen::MatrixXd::Identity(normals.rows(), normals.cols());
  for (Eigen::Index k = 0; k < columns.cols(); ++k)
    if (decomposition.matrixQR()(k, k) < 0) columns.col(k) *= -1;
  return columns;
}

void orthogonalise(inference::MatrixView<float> matrix, double gain) {
  Eigen::MatrixXd normals(matrix.rows, matrix.columns);
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = 0; k < matrix.columns; ++k) normals(i, k) = double{matrix(i, k)};
  Eigen::MatrixXd found;
  if (matrix.rows >= matrix.columns)
    found = orthonormal_columns(normals);
  else
    found = orthonormal_columns(normals.transpose()).transpose();
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = 0; k < matrix.columns; ++k) matrix(i, k) = static_cast<float>(gain * found(i, k));
}

}  // namespace

void orthogonalise(inference::Particles<float>& particles, double gain) {
  for (const inference::LayoutEntry& entry : particles.layout().entries())
    if (entry.role == inference::Role::weight)
      for (std::int64_t i = 0; i < particles.rows(); ++i) orthogonalise(particles.view(entry.name, i), gain);
}

}  // namespace stein::policies
