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
  const double scale = options.bandwidth_rule == Bandwidth::median ? 1 : 0.5;
  return scale * median(values) / std::log(static_cast<double>(rows) + 1);
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
  weights.gradient.assign(size * size, share);
  weights.position.clear();
  weights.own.assign(size, 0);
  weights.shift = 0;
  weights.translation_invariant = options.kernel != SvgdKernel::linear;
  weights.bandwidth = 0;
  weights.middle = 0;
  if (rows == 1) return;  // no kernel of a particle with itself: plain ascent
  if (options.kernel == SvgdKernel::linear) {
    for (std::size_t i = 0; i < size * size; ++i) weights.gradient[i] = share * (matrix[i] + 1);
    weights.own.assign(size, 1);  // (1/M) Σ_j x_i
    return;
  }
  const double h = weights.bandwidth = bandwidth(options, matrix, rows);
  if (h == 0) return;
  weights.middle = nearest_to_others(matrix, rows);
  if (options.kernel == SvgdKernel::rbf) {
    weights.shift = -2 / h;  // ∇_{x_j} k = (2/h) k (x_i − x_j)
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        const double k = share * std::exp(-matrix[i * size + j] / h);
        weights.gradient[i * size + j] = k;
        weights.own[i] += 2 / h * k;
      }
    }
    return;
  }
  weights.position.assign(size * size, 0);  // ∇_{x_j} k = (1/h) k³ (x_i − x_j)
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      const double k = 1 / std::sqrt(1 + matrix[i * size + j] / h), push = share * k * k * k / h;
      weights.gradient[i * size + j] = share * k;
      weights.position[i * size + j] = -push;
      weights.own[i] += push;
    }
  }
}

}  // namespace stein::inference
