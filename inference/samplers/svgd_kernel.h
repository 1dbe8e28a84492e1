// The kernel of SVGD by its options: which one, and the rule for its bandwidth.
#pragma once

#include <stein/core/options.h>
#include <stein/inference/samplers/kernel_weights.h>

#include <cstdint>
#include <span>
#include <vector>

namespace stein::inference {

enum class Bandwidth {
  median,       ///< h = med²/log(M + 1), the convention of the SVGD authors
  half_median,  ///< h = med²/(2 log(M + 1)), the convention of the published SVPG and S2VGD code
  fixed,        ///< h = `bandwidth`
};

/// What the median is multiplied with under a rule that has one.
constexpr double median_scale(Bandwidth rule) {
  return rule == Bandwidth::median ? 1 : 0.5;
}

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

/// Weights from `matrix`: of squared distances [M·M] (symmetric, zero diagonal), or for the linear kernel of inner
/// products. A single particle climbs along its gradient, whatever the kernel.
void kernel_weights(const SvgdKernelOptions& options, std::span<const double> matrix, std::int64_t rows,
                    KernelWeights& weights);

}  // namespace stein::inference
