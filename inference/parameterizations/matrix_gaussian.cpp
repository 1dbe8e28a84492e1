#include <stein/core/error.h>
#include <stein/core/parallel.h>
#include <stein/inference/fused/structured_pass.h>
#include <stein/inference/parameterizations/direct.h>
#include <stein/inference/parameterizations/matrix_gaussian.h>
#include <stein/inference/storage/aligned_buffer.h>

#include <algorithm>

namespace stein::inference {
namespace {

using fused::MatrixParts;
using fused::MatrixShape;

std::int64_t reflectors(const std::optional<LayoutEntry>& entry) {
  return entry ? entry->rows() : 0;
}

MatrixShape shape_of(const StructuredMatrix& matrix) {
  return {matrix.core.rows(), matrix.core.columns(), reflectors(matrix.reflectors_left),
          reflectors(matrix.reflectors_right)};
}

template <class T>
MatrixParts<T> parts_of(const StructuredMatrix& matrix, T* row) {
  const auto part = [&](const std::optional<LayoutEntry>& entry) { return entry ? row + entry->offset : nullptr; };
  return {.core = row + matrix.core.offset,
          .log_scale_left = part(matrix.log_scale_left),
          .log_scale_right = part(matrix.log_scale_right),
          .reflectors_left = part(matrix.reflectors_left),
          .reflectors_right = part(matrix.reflectors_right)};
}

[[noreturn]] void fail_degenerate(const StructuredMatrix& matrix, const float* row, std::int64_t reflector,
                                  std::int64_t particle) {
  const std::int64_t left = reflectors(matrix.reflectors_left);
  const LayoutEntry& entry = reflector < left ? *matrix.reflectors_left : *matrix.reflectors_right;
  const std::int64_t index = reflector < left ? reflector : reflector - left;
  double square = 0;
  for (std::int64_t i = 0; i < entry.columns(); ++i) {
    const double value = row[entry.offset + index * entry.row_stride + i];
    square += value * value;
  }
  fail(ErrorKind::numeric, "{}[{}] of particle {} has no direction: expected a squared length from {} to {}, got {}",
       entry.name, index, particle, fused::least_square, fused::largest_square, square);
}

}  // namespace

MatrixGaussian::MatrixGaussian(Layout weights, const MatrixGaussianOptions& options)
    : layout_(matrix_gaussian_layout(std::move(weights), options)) {
  for (const StructuredMatrix& matrix : layout_.matrices) {
    kept_offsets_.push_back(kept_size_);
    kept_size_ += fused::structured_kept_floats(shape_of(matrix));
  }
}

/// What the kernels leave for the way back, of every row.
class MatrixGaussian::Kept final : public ForwardTrace {
 public:
  /// Of `rows` rows of `size` numbers each.
  float* numbers(std::int64_t rows, std::int64_t size) {
    const auto wanted = static_cast<std::size_t>(rows * size);
    if (numbers_.size() < wanted) numbers_ = AlignedBuffer<float>(wanted);
    return numbers_.data();
  }

 private:
  AlignedBuffer<float> numbers_;
};

std::unique_ptr<ForwardTrace> MatrixGaussian::make_trace() const {
  return std::make_unique<Kept>();
}

void MatrixGaussian::check(std::int64_t rows, std::int64_t columns, std::int64_t weight_rows,
                           std::int64_t weight_columns) const {
  STEIN_CHECK(columns >= layout_.coordinates.size() && weight_columns == layout_.weights.size() && rows == weight_rows,
              "structured weights: expected coordinates [m, {}] and weights [m, {}], got [{}, {}] and [{}, {}]",
              layout_.coordinates.size(), layout_.weights.size(), rows, columns, weight_rows, weight_columns);
}

void MatrixGaussian::forward(const ParticleRows<const float>& coordinates, const NoiseKey&, MatrixView<float> weights,
                             ForwardTrace& trace) const {
  const std::int64_t rows = coordinates.values.rows;
  check(rows, coordinates.values.columns, weights.rows, weights.columns);
  float* const all_kept = dynamic_cast<Kept&>(trace).numbers(rows, kept_size_);
  parallel_for(rows, [&](std::int64_t i) {
    const float* const from = coordinates.values.row(i).data();
    float* const to = weights.row(i).data();
    float* const kept = all_kept + i * kept_size_;
    for (const auto& [weight, coordinate] : layout_.plain) {
      for (std::int64_t r = 0; r < weight.rows(); ++r) {
        float* const target = to + weight.offset + r * weight.row_stride;
        std::copy_n(from + coordinate.offset + r * coordinate.row_stride, weight.columns(), target);
        std::fill(target + weight.columns(), target + weight.row_stride, 0.0f);
      }
    }
    for (std::size_t k = 0; k < layout_.matrices.size(); ++k) {
      const StructuredMatrix& matrix = layout_.matrices[k];
      const std::int64_t degenerate =
          fused::structured_forward(shape_of(matrix), parts_of(matrix, from), kept + kept_offsets_[k],
                                    to + matrix.weight.offset, matrix.weight.row_stride);
      if (degenerate >= 0) fail_degenerate(matrix, from, degenerate, coordinates.first_row + i);
    }
  });
}

void MatrixGaussian::pullback(const ParticleRows<const float>& coordinates, const NoiseKey&,
                              MatrixView<const float> weight_gradient, MatrixView<float> gradient,
                              ForwardTrace& trace) const {
  const std::int64_t rows = coordinates.values.rows;
  check(rows, coordinates.values.columns, weight_gradient.rows, weight_gradient.columns);
  float* const all_kept = dynamic_cast<Kept&>(trace).numbers(rows, kept_size_);
  parallel_for(rows, [&](std::int64_t i) {
    const float* const from = coordinates.values.row(i).data();
    const float* const slopes = weight_gradient.row(i).data();
    float* const to = gradient.row(i).data();
    float* const kept = all_kept + i * kept_size_;
    for (const auto& [weight, coordinate] : layout_.plain)
      for (std::int64_t r = 0; r < weight.rows(); ++r)
        std::copy_n(slopes + weight.offset + r * weight.row_stride, weight.columns(),
                    to + coordinate.offset + r * coordinate.row_stride);
    for (std::size_t k = 0; k < layout_.matrices.size(); ++k) {
      const StructuredMatrix& matrix = layout_.matrices[k];
      fused::structured_pullback(shape_of(matrix), parts_of(matrix, from), kept + kept_offsets_[k],
                                 slopes + matrix.weight.offset, matrix.weight.row_stride, parts_of(matrix, to));
    }
  });
}

void MatrixGaussian::initialise(Particles<float>& particles, std::uint64_t seed, double spread) {
  initialise_coordinates(particles, seed, spread);
}

}  // namespace stein::inference
