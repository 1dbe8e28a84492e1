#include <stein/core/parallel.h>
#include <stein/inference/fused/vector_arithmetic.h>
#include <stein/inference/samplers/gradient_clip.h>

#include <algorithm>
#include <cmath>

namespace stein::inference {
namespace {

/// The length of a vector of finite numbers, also where its square overflows.
template <class Scalar>
double norm(std::span<const Scalar> vector) {
  const double square = sum_of_squares(vector);
  if (std::isfinite(square)) return std::sqrt(square);
  double largest = 0, sum = 0;
  for (const Scalar value : vector) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (const Scalar value : vector) sum += std::pow(static_cast<double>(value) / largest, 2);
  return largest * std::sqrt(sum);
}

/// What a row is multiplied with; 1 where it stays.
template <class Scalar>
double factor(std::span<const Scalar> row, const GradientClipOptions& options) {
  return clip_factor(norm(row), options);
}

}  // namespace

template <class Scalar>
void reference::clip_rows(MatrixView<Scalar> gradients, const GradientClipOptions& options) {
  if (options.clip_norm == 0) return;
  for (std::int64_t i = 0; i < gradients.rows; ++i) {
    const double scale = factor(std::span<const Scalar>(gradients.row(i)), options);
    if (scale == 1) continue;
    for (Scalar& value : gradients.row(i)) value = static_cast<Scalar>(value * scale);
  }
}

void fused::clip_rows(MatrixView<float> gradients, const GradientClipOptions& options) {
  if (options.clip_norm == 0) return;
  parallel_for(gradients.rows, [&](std::int64_t i) {
    const double scale = factor(std::span<const float>(gradients.row(i)), options);
    if (scale != 1) multiply(gradients.row(i), scale);
  });
}

template void reference::clip_rows(MatrixView<float>, const GradientClipOptions&);
template void reference::clip_rows(MatrixView<double>, const GradientClipOptions&);

}  // namespace stein::inference
