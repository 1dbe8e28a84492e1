// The kernels of SVGD as the weights with which particles' gradients and positions enter one another's direction; a
// pair of particles is computed in the same way on the host and on a GPU.
#pragma once

#include <stein/core/host_device.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace stein::inference {

enum class SvgdKernel {
  rbf,     ///< exp(−‖x − y‖²/h)
  imq,     ///< (1 + ‖x − y‖²/h)^(−½), inverse multiquadric
  linear,  ///< x·y + 1: exact mean and covariance on a Gaussian when M > d
};

/// The Stein direction as sums over particles:
///   direction_i = Σ_j a_ij (g_j + shift · x_j) + Σ_j b_ij x_j + c_i x_i,  g the gradients, x the positions.
struct KernelWeights {
  std::vector<double> gradient;  ///< a, [M·M]
  double shift = 0;
  std::vector<double> position;        ///< b, [M·M]; empty if all zero
  std::vector<double> own;             ///< c, [M]
  bool translation_invariant = false;  ///< positions enter by their differences only, so they may be centred first
  std::int64_t middle = 0;             ///< the particle nearest to the others: where to centre them
  double bandwidth = 0;                ///< h that was used; 0: none (linear, M = 1, or a median of 0)
};

/// With what weights particle j enters the direction of particle i (KernelWeights).
struct PairWeights {
  double gradient;  ///< a_ij
  double position;  ///< b_ij
  double own;       ///< of c_i, a sum over j
};

/// Of a pair whose squared distance is `number`, or whose inner product, for the linear kernel.
/// @param h      bandwidth; 0: particles do not push one another, as of the linear kernel, which has none
/// @param share  1/M
STEIN_HOST_DEVICE inline PairWeights pair_weights(SvgdKernel kernel, double number, double h, double share) {
  if (kernel == SvgdKernel::linear) return {share * (number + 1), 0, 0};
  if (h == 0) return {share, 0, 0};
  if (kernel == SvgdKernel::rbf) {
    const double k = share * std::exp(-number / h);
    return {k, 0, 2 / h * k};
  }
  const double k = 1 / std::sqrt(1 + number / h), push = share * k * k * k / h;  // ∇_{x_j} k = (1/h) k³ (x_i − x_j)
  return {share * k, -push, push};
}

/// What positions are multiplied with before they are added to gradients: ∇_{x_j} k = (2/h) k (x_i − x_j) of the RBF
/// kernel has the factor k of its gradients.
STEIN_HOST_DEVICE inline double position_shift(SvgdKernel kernel, double h) {
  return kernel == SvgdKernel::rbf && h != 0 ? -2 / h : 0;
}

/// c_i where it is no sum over pairs: (1/M) Σ_j ∇_{x_j} (x_j · x_i) = x_i of the linear kernel.
STEIN_HOST_DEVICE inline double own_weight(SvgdKernel kernel) {
  return kernel == SvgdKernel::linear ? 1 : 0;
}

}  // namespace stein::inference
