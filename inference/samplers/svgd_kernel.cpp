#include <stein/core/median.h>
#include <stein/inference/samplers/svgd_kernel.h>

#include <cmath>
#include <limits>

namespace stein::inference {
namespace {

double bandwidth(const SvgdKernelOptions& options, std::span<const double> distances, std::int64_t rows) {
  if (options.bandwidth_rule == Bandwidth::fixed) return options.bandwidth;
  thread_local std::vector<double> values;
  values.clear();
  if (options.median_over == MedianOver::matrix)
    values.assign(distances.begin(), distances.end());
  else
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < i; ++j) values.push_back(distances[i * rows + j]);
  return median_scale(options.bandwidth_rule) * median(values) / std::log(static_cast<double>(rows) + 1);
}

/// The row of least sum of distances, not squared ones: far particles do not decide. The first of several.
std::int64_t nearest_to_others(std::span<const double> distances, std::int64_t rows) {
  std::int64_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < rows; ++j) sum += std::sqrt(distances[i * rows + j]);
    if (sum < least) best = i, least = sum;
  }
  return best;
}

}  // namespace

void kernel_weights(const SvgdKernelOptions& options, std::span<const double> matrix, std::int64_t rows,
                    KernelWeights& weights) {
  const auto size = static_cast<std::size_t>(rows);
  const double share = 1 / static_cast<double>(rows);
  const SvgdKernel kernel = options.kernel;
  weights.gradient.assign(size * size, share);
  weights.position.clear();
  weights.own.assign(size, 0);
  weights.shift = 0;
  weights.translation_invariant = kernel != SvgdKernel::linear;
  weights.bandwidth = 0;
  weights.middle = 0;
  if (rows == 1) return;  // no kernel of a particle with itself: plain ascent
  if (kernel != SvgdKernel::linear) {
    weights.bandwidth = bandwidth(options, matrix, rows);
    if (weights.bandwidth == 0) return;
    weights.middle = nearest_to_others(matrix, rows);
  }
  const double h = weights.bandwidth;
  weights.shift = position_shift(kernel, h);
  weights.own.assign(size, own_weight(kernel));
  if (kernel == SvgdKernel::imq) weights.position.assign(size * size, 0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      const PairWeights pair = pair_weights(kernel, matrix[i * size + j], h, share);
      weights.gradient[i * size + j] = pair.gradient;
      if (kernel == SvgdKernel::imq) weights.position[i * size + j] = pair.position;
      weights.own[i] += pair.own;
    }
}

}  // namespace stein::inference
