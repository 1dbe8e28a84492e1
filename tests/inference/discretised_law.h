// Where discretised diffusions settle on a Gaussian of curvature k whose gradient carries noise of variance V: exact
// for every step size, derived from the recursions of inference/samplers/diffusion_steps.inc.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <unsupported/Eigen/KroneckerProduct>
#include <vector>

namespace stein::inference {

/// Curvature k, step h (η), temperature T, variance V of the gradient's noise.
struct Setting {
  double k, h, t, v;
};

inline double sgld_variance(const Setting& s) {
  return (2 * s.h * s.t + s.h * s.h * s.v) / (2 * s.h * s.k - s.h * s.h * s.k * s.k);
}

/// E r² and Var φ of SGHMC with friction α and noise estimate β̂.
struct SghmcLaw {
  double momentum, position;

  SghmcLaw(const Setting& s, double friction, double estimate = 0) {
    const double b = s.h * s.k, power = 2 * (friction * s.t - estimate) * s.h + s.h * s.h * s.v;
    momentum = power / (friction * (2 - friction - b / 2));
    position = (1 - friction / 2) * momentum / b;
  }
};

/// ξ of SGNHT with one thermostat for many coordinates: it hardly moves there, and the rest is SGHMC with α = h ξ,
/// whose E r² is T where α (2 − α − h²k/2) = 2Ah + h²V/T.
inline double sgnht_friction(const Setting& s, double diffusion) {
  const double half = 1 - s.h * s.h * s.k / 4, power = 2 * diffusion * s.h + s.h * s.h * s.v / s.t;
  return (half - std::sqrt(half * half - power)) / s.h;
}

/// α of Santa's Euler scheme with metric G at rest and a small η, so that α hardly moves: G u follows SGHMC with
/// b = ηG²k and noise 2ηTG³, and E u² is ηT where α (2 − α − b/2) = 2G.
inline double santa_euler_thermostat(double k, double metric, double eta) {
  const double half = 1 - eta * metric * metric * k / 4;
  return half - std::sqrt(half * half - 2 * metric);
}

/// Stationary mean and covariance of s ← A s + c + noise, where (A, c) is drawn anew in every step, all with the same
/// probability: a linear sampler on a quadratic target, minibatches and all.
struct AffineLaw {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;

  struct Move {
    Eigen::MatrixXd linear;    ///< A
    Eigen::VectorXd constant;  ///< c
  };

  AffineLaw(const std::vector<Move>& moves, const Eigen::MatrixXd& noise) {
    const Eigen::Index n = noise.rows();
    const double share = 1 / static_cast<double>(moves.size());
    Eigen::MatrixXd map = Eigen::MatrixXd::Identity(n, n), square_map = Eigen::MatrixXd::Identity(n * n, n * n);
    Eigen::VectorXd constant = Eigen::VectorXd::Zero(n);
    for (const auto& [a, c] : moves) {
      map -= share * a;
      constant += share * c;
      square_map -= share * Eigen::kroneckerProduct(a, a).eval();
    }
    mean = map.fullPivLu().solve(constant);
    // About its mean s moves by A (s − m) + (A m + c − m): the second part is what minibatches add.
    Eigen::MatrixXd source = noise;
    for (const auto& [a, c] : moves) {
      const Eigen::VectorXd rest = a * mean + c - mean;
      source += share * rest * rest.transpose();
    }
    covariance = square_map.fullPivLu().solve(source.reshaped()).reshaped(n, n);
  }
};

}  // namespace stein::inference
