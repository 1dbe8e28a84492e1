// A linear model with Gaussian noise, whose bounds and posteriors have closed forms, and comparisons of averages with
// them.
#pragma once

#include <stein/inference/batch.h>
#include <stein/inference/models/mlp_spec.h>
#include <stein/inference/particles.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

namespace stein::inference {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// y ~ N(w·x + b, 1/4) with two inputs, six rows standing for N = 9: log p(y | θ) = c − (θ − m)ᵀ A (θ − m)/2.
struct LinearGaussian {
  LinearGaussian() {
    spec.inputs = 2;
    spec.noise_precision = 4;
  }
  MlpSpec spec;
  std::vector<double> x{0.5, -1, 1, 0.25, -0.75, 0.5, 0.25, 1, -0.5, -0.5, 1.25, 0};
  std::vector<double> y{0.4, 0.9, -0.6, 1.1, -0.2, 0.7};
  Batch<double> batch() const {
    return {.inputs = {.dense = {x.data(), 6, 2}}, .targets = {y.data(), 6, 1}, .rows = 6, .data_size = 9};
  }
  MatrixXd design() const {
    MatrixXd design(6, 3);
    for (int i = 0; i < 6; ++i) design.row(i) << x[2 * i], x[2 * i + 1], 1;
    return design;
  }
  MatrixXd precision() const { return 1.5 * 4 * design().transpose() * design(); }
  VectorXd vector() const { return 1.5 * 4 * design().transpose() * Eigen::Map<const VectorXd>(y.data(), 6); }
  double log_likelihood(const VectorXd& theta) const {
    const VectorXd rest = Eigen::Map<const VectorXd>(y.data(), 6) - design() * theta;
    return 1.5 * (6 * 0.5 * std::log(4 / (2 * std::numbers::pi)) - 2 * rest.squaredNorm());
  }
};

/// z of the mean over rows of each column of `values` against `law`, the largest of them.
inline double largest_z(MatrixView<const double> values, const VectorXd& law) {
  double largest = 0;
  const auto n = static_cast<double>(values.rows);
  for (std::int64_t j = 0; j < values.columns; ++j) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < values.rows; ++i) sum += values(i, j), squares += values(i, j) * values(i, j);
    const double variance = (squares / n - sum / n * (sum / n)) / n;
    largest = std::max(largest, std::abs(sum / n - law(j)) / std::sqrt(variance));
  }
  return largest;
}

/// `rows` times the same coordinates.
inline Particles<double> repeated(const Layout& layout, const VectorXd& coordinates, std::int64_t rows) {
  Particles<double> particles(layout, rows);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < coordinates.size(); ++j) particles.values()(i, j) = coordinates(j);
  return particles;
}

}  // namespace stein::inference
