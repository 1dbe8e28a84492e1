// What is done to structured weights beside the products of matrices that turn them: scales, triangles, slopes of what
// is no product. A thread takes one number, or one column or row of a matrix; all pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/structure_steps.h>

#include <cmath>
#include <cstdint>

namespace stein::inference::cuda {

/// One number of a matrix of one network; `index` counts the numbers of a matrix, network by network.
struct MatrixNumber {
  const StructurePlaces::Matrix& matrix;
  std::int64_t network;
  int place, row, column;

  STEIN_HOST_DEVICE MatrixNumber(const StructurePlaces::Matrix& of, std::int64_t index)
      : matrix(of),
        network(index / of.numbers()),
        place(static_cast<int>(index % of.numbers())),
        row(place / of.columns),
        column(place % of.columns) {}

  /// λ₁ λ₂ of its row and its column. @param coordinates  of the network
  STEIN_HOST_DEVICE float scale(const float* coordinates) const {
    return scale_at(coordinates, matrix.log_scale_left, row) * scale_at(coordinates, matrix.log_scale_right, column);
  }
};

/// A number of A = Λ₁ C Λ₂, and of W, which begins as A.
struct ScaledCore {
  StructureLaunch launch;
  int number;  ///< of the matrix
  float* a;    ///< [m, rows, columns]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const MatrixNumber at(launch.places.matrix[number], index);
    const float* const from = launch.coordinates + at.network * launch.coordinate_stride;
    const float scaled = at.scale(from) * from[at.matrix.core + at.place];
    a[index] = scaled;
    launch.weights[at.network * launch.weight_stride + at.matrix.weight + at.place] = scaled;
  }
};

/// A column of −T from VᵀV; `index` counts columns, network by network. T⁻¹ is the strict upper triangle of VᵀV plus
/// half its diagonal. Not numbers where a reflector has no direction.
struct InvertTriangle {
  const float* gram;  ///< [m, k, k]
  int k;
  float* negative;  ///< [m, k, k]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t network = index / k;
    const int column = static_cast<int>(index % k);
    const float* const of = gram + network * k * k;
    float* const to = negative + network * k * k + column;
    for (int i = k - 1; i > column; --i) to[i * k] = 0;
    for (int i = column; i >= 0; --i) {
      float sum = i == column ? -1 : 0;
      for (int j = i + 1; j <= column; ++j) sum = std::fma(-of[i * k + j], to[j * k], sum);
      to[i * k] = reflection_factor(of[i * k + i]) * sum;
    }
  }
};

/// Makes squares [m, k, k] symmetric: what is below the diagonal becomes what is above it. `index` is the place of a
/// number.
struct MirrorUpper {
  float* squares;
  int k;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t size = std::int64_t{k} * k, place = index % size, i = place / k, j = place % k;
    if (i > j) squares[index] = squares[index - place + j * k + i];
  }
};

/// A slope of W, from where the slopes of its own matrix begin.
struct TakeSlope {
  StructureLaunch launch;
  int number;
  float* to;  ///< [m, rows, columns]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const MatrixNumber at(launch.places.matrix[number], index);
    to[index] = launch.slopes[at.network * launch.slope_stride + at.matrix.weight + at.place];
  }
};

/// A slope of C from that of A.
struct CoreSlope {
  StructureLaunch launch;
  int number;
  const float* slopes;  ///< of A [m, rows, columns]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const MatrixNumber at(launch.places.matrix[number], index);
    const float scale = at.scale(launch.coordinates + at.network * launch.coordinate_stride);
    launch.gradient[at.network * launch.gradient_stride + at.matrix.core + at.place] = scale * slopes[index];
  }
};

/// The slope of the logarithm of one scale, Σ A ∘ ∂A over its row, or its column; `index` counts scales, network by
/// network.
struct ScaleSlope {
  const float *a, *slopes;  ///< [m, rows, columns]
  std::int64_t numbers;     ///< of a matrix
  int count;                ///< of scales
  int length, step,
      next;  ///< of a scale's numbers: how many, from one to the next; from the first of one scale to that of the next
  float* gradient;  ///< of the first scale of the first network
  std::int64_t gradient_stride;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t network = index / count, scale = index % count, first = network * numbers + scale * next;
    float sum = 0;
    for (int k = 0; k < length; ++k) {
      const std::int64_t at = first + static_cast<std::int64_t>(k) * step;
      sum = std::fma(a[at], slopes[at], sum);
    }
    gradient[network * gradient_stride + scale] = sum;
  }
};

/// A number that is the same in weights and coordinates, or its slope back; `index` counts those of one part, network
/// by network.
struct CopyPlain {
  StructureLaunch launch;
  int number;  ///< of the part

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const StructurePlaces::Plain& plain = launch.places.plain[number];
    copy_plain_number(launch, plain, index / plain.count, index % plain.count);
  }
};

}  // namespace stein::inference::cuda
