// The structured parameterization of one matrix for its tests, and the same algebra with every matrix formed.
#pragma once

#include <stein/inference/parameterizations/direct.h>
#include <stein/torch/matrix_gaussian_reference.h>

#include <Eigen/Dense>
#include <vector>

namespace stein::inference {

/// One weight matrix [p, d] and nothing else.
inline Layout single_matrix(std::int64_t p, std::int64_t d, std::int64_t row_stride = 0) {
  Layout layout;
  layout.add("layer0.weight", {p, d}, Role::weight, 0, row_stride);
  return layout;
}

/// Weights of all particles.
inline std::vector<double> forward(Parameterization<double>& map, const Particles<double>& particles) {
  const std::int64_t size = map.weights().size();
  std::vector<double> weights(static_cast<std::size_t>(particles.rows() * size), -1.0);
  map.forward(particles.coordinates(), {}, {weights.data(), particles.rows(), size}, *map.make_trace());
  return weights;
}

inline Eigen::MatrixXd copy(MatrixView<double> view) {
  Eigen::MatrixXd matrix(view.rows, view.columns);
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j) matrix(i, j) = view(i, j);
  return matrix;
}

inline void assign(MatrixView<double> view, const Eigen::MatrixXd& matrix) {
  for (std::int64_t i = 0; i < view.rows; ++i)
    for (std::int64_t j = 0; j < view.columns; ++j) view(i, j) = matrix(i, j);
}

/// H(v₁) … H(v_K) with every H formed as a matrix; `reflectors` [K, n].
inline Eigen::MatrixXd orthogonal(const Eigen::MatrixXd& reflectors) {
  const Eigen::Index n = reflectors.cols();
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(n, n);
  for (Eigen::Index k = 0; k < reflectors.rows(); ++k) {
    const Eigen::VectorXd v = reflectors.row(k).transpose();
    product = product * (Eigen::MatrixXd::Identity(n, n) - 2 * v * v.transpose() / v.squaredNorm());
  }
  return product;
}

/// P as the parameterization applies it: a [n, 1] matrix has no right side, so core e_i gives column i of P.
inline Eigen::MatrixXd applied_left(const Eigen::MatrixXd& reflectors) {
  const std::int64_t n = reflectors.cols();
  MatrixGaussianReference<double> map(single_matrix(n, 1),
                                      {.reflectors = reflectors.rows(), .scales = Scales::identity});
  Particles<double> particles(map.coordinates(), n);
  for (std::int64_t i = 0; i < n; ++i) {
    particles.view("layer0.weight", i)(i, 0) = 1;
    assign(particles.view("layer0.reflectors_left", i), reflectors);
  }
  const std::vector<double> columns = forward(map, particles);
  return Eigen::Map<const Eigen::MatrixXd>(columns.data(), n, n);
}

/// Q likewise: a [1, n] matrix with core e_i gives e_iᵀ Qᵀ, column i of Q.
inline Eigen::MatrixXd applied_right(const Eigen::MatrixXd& reflectors) {
  const std::int64_t n = reflectors.cols();
  MatrixGaussianReference<double> map(single_matrix(1, n),
                                      {.reflectors = reflectors.rows(), .scales = Scales::identity});
  Particles<double> particles(map.coordinates(), n);
  for (std::int64_t i = 0; i < n; ++i) {
    particles.view("layer0.weight", i)(0, i) = 1;
    assign(particles.view("layer0.reflectors_right", i), reflectors);
  }
  const std::vector<double> columns = forward(map, particles);
  return Eigen::Map<const Eigen::MatrixXd>(columns.data(), n, n);
}

inline Eigen::MatrixXd normals(Eigen::Index rows, Eigen::Index columns, std::uint32_t row) {
  Draws draws({.seed = 11, .stream = Stream::test}, row);
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return draws.normal(); });
}

/// Random coordinates everywhere, log scales of sd 0.4 included.
inline Particles<double> random_particles(MatrixGaussianReference<double>& map, std::int64_t rows) {
  Particles<double> particles(map.coordinates(), rows);
  map.initialise(particles, 5, 1.5);
  for (const LayoutEntry& entry : map.coordinates().entries())
    if (entry.role != Role::weight && entry.role != Role::reflector_left && entry.role != Role::reflector_right)
      for (std::int64_t i = 0; i < rows; ++i)
        assign(particles.view(entry.name, i),
               0.4 * normals(entry.rows(), entry.columns(), static_cast<std::uint32_t>(entry.offset + i)));
  return particles;
}

}  // namespace stein::inference
