// The kernels of SVGD as the weights with which particles' gradients and positions enter one another's direction.
#pragma once

#include <stein/core/options.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::inference {

enum class SvgdKernel {
  rbf,     ///< exp(−‖x − y‖²/h)
  imq,     ///< (1 + ‖x − y‖²/h)^(−½), inverse multiquadric
  linear,  ///< x·y + 1: exact mean and covariance on a Gaussian when M > d
};

enum class Bandwidth {
  median,       ///< h = med²/log(M + 1), the convention of the SVGD authors
  half_median,  ///< h = med²/(2 log(M + 1)), the convention of the published SVPG and S2VGD code
  fixed,        ///< h = `bandwidth`
};

enum class MedianOver { matrix, pairs };

/// The kernel and the rule for its bandwidth.
struct SvgdKernelOptions {
  SvgdKernel kernel = SvgdKernel::rbf;
  Bandwidth bandwidth_rule = Bandwidth::median;
  MedianOver median_over = MedianOver::matrix;  ///< all M² squared distances, zeros included, or the M(M−1)/2 pairs
  double bandwidth = 1;                         ///< h of the rule `fixed`

  template <class V>
  void describe(V& v) {
    v("kernel", kernel, "kernel of the Stein direction",
      {{"rbf", SvgdKernel::rbf}, {"imq", SvgdKernel::imq}, {"linear", SvgdKernel::linear}});
    v("bandwidth_rule", bandwidth_rule, "h = med²/log(M+1), med²/(2 log(M+1)), or `bandwidth`",
      {{"median", Bandwidth::median}, {"half-median", Bandwidth::half_median}, {"fixed", Bandwidth::fixed}});
    v("median_over", median_over, "median of squared distances over the full matrix (zeros in) or over pairs",
      {{"matrix", MedianOver::matrix}, {"pairs", MedianOver::pairs}});
    v("bandwidth", bandwidth, "h of the fixed rule", positive, "squared distance");
  }
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

/// Weights from `matrix`: of squared distances [M·M] (symmetric, zero diagonal), or for the linear kernel of inner
/// products. A single particle climbs along its gradient, whatever the kernel.
void kernel_weights(const SvgdKernelOptions& options, std::span<const double> matrix, std::int64_t rows,
                    KernelWeights& weights);

}  // namespace stein::inference
