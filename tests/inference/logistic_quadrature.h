// The posterior of a logistic regression by quadrature.
#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "inference/regression_case.h"

namespace stein::inference {

/// Mean and covariance of weights and bias [d + 1] under the prior N(0, I): the trapezoidal rule on points^(d + 1)
/// points of (mode ± 10 sd of its Laplace approximation).
struct LogisticQuadrature {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;

  explicit LogisticQuadrature(const Regression& data, int points = 161) : design_(data.design()), data_(data) {
    using Eigen::MatrixXd;
    using Eigen::VectorXd;
    const Eigen::Index size = design_.cols();
    VectorXd mode = VectorXd::Zero(size);
    MatrixXd root;
    for (int i = 0; i < 50; ++i) {
      const VectorXd chance = (1 / (1 + (-design_ * mode).array().exp())).matrix();
      const VectorXd spread = chance.array() * (1 - chance.array());
      const MatrixXd hessian =
          data.scale() * design_.transpose() * spread.asDiagonal() * design_ + MatrixXd::Identity(size, size);
      mode += hessian.ldlt().solve(data.scale() * design_.transpose() * (data.answers - chance) - mode);
      root = hessian.inverse().llt().matrixL();
    }
    const double highest = log_density(mode), spacing = 20.0 / (points - 1);
    mean = VectorXd::Zero(size), covariance = MatrixXd::Zero(size, size);
    double mass = 0;
    const auto count = std::llround(std::pow(points, size));
    VectorXd place(size);
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t rest = k;
      for (Eigen::Index q = 0; q < size; ++q, rest /= points)
        place(q) = -10 + static_cast<double>(rest % points) * spacing;
      const VectorXd at = mode + root * place;
      const double weight = std::exp(log_density(at) - highest);
      mass += weight, mean += weight * at, covariance += weight * at * at.transpose();
    }
    mean /= mass;
    covariance = (covariance / mass - mean * mean.transpose()).eval();
  }

 private:
  double log_density(const Eigen::VectorXd& at) const {
    double sum = -at.squaredNorm() / 2;
    for (Eigen::Index i = 0; i < design_.rows(); ++i) {
      const double margin = design_.row(i).dot(at);
      sum += data_.scale() * (data_.answers(i) * margin - std::log1p(std::exp(margin)));
    }
    return sum;
  }

  Eigen::MatrixXd design_;
  Regression data_;
};

}  // namespace stein::inference
