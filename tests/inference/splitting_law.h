// Where Santa's symmetric splitting settles on a Gaussian.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <unsupported/Eigen/KroneckerProduct>

namespace stein::inference {

/// Santa's symmetric splitting on curvature k with metric G and a thermostat α that hardly moves is linear in (x, u):
/// the α at which E u² = κ, and k E x² there.
struct SplittingLaw {
  double thermostat, position;

  SplittingLaw(double k, double metric, double eta) {
    Eigen::Matrix2d covariance;
    double low = 1e-3, high = 3;
    for (int i = 0; i < 100; ++i) {
      thermostat = (low + high) / 2;
      covariance = stationary(thermostat, k, metric, eta);
      (covariance(1, 1) > eta ? low : high) = thermostat;
    }
    position = k * covariance(0, 0);
  }

 private:
  static Eigen::Matrix2d stationary(double alpha, double k, double metric, double eta) {
    const double half = std::exp(-alpha / 2), kick = -half * eta * metric * k;
    const Eigen::RowVector2d momentum{kick, half * half + kick * metric / 2};
    Eigen::Matrix2d step;
    step << Eigen::RowVector2d{1, metric / 2} + metric / 2 * momentum, momentum;
    const Eigen::Vector2d noise = std::sqrt(2 * eta * metric) * half * Eigen::Vector2d{metric / 2, 1};
    const Eigen::Matrix4d map = Eigen::Matrix4d::Identity() - Eigen::kroneckerProduct(step, step).eval();
    const Eigen::Matrix2d source = noise * noise.transpose();
    return map.fullPivLu().solve(source.reshaped()).reshaped(2, 2);
  }
};

}  // namespace stein::inference
