// What one thread of the CUDA kernels of variational matrix Gaussians does: the sums of variational_matrix_pass.h in
// their order, squares of scales from exponentials in float. All pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/number_group.h>
#include <stein/inference/parameterizations/variational_matrix_pass.h>

#include <cmath>

namespace stein::inference::cuda {

/// The law of a matrix [rows, columns], where its ε are, and how its weights lie.
struct VariationalMatrixRows {
  const float *mean, *log_left, *log_right;
  NoiseGroups noise;
  std::int64_t rows, columns;
  SpacedRows weights;

  /// Of the host's description.
  VariationalMatrixRows(const VariationalMatrix<float>& law, const MeanFieldNoise& epsilon)
      : mean(law.mean.data()),
        log_left(law.log_left.data()),
        log_right(law.log_right.data()),
        noise{epsilon.key, epsilon.row, epsilon.first, std::ssize(law.mean)},
        rows(law.rows()),
        columns(law.columns()),
        weights{law.columns(), law.stride} {}

  /// u ε v of a weight from its slope, or from 1.
  STEIN_HOST_DEVICE float spread(float slope, std::int64_t row, float epsilon, std::int64_t column) const {
    return slope * std::exp(log_left[row]) * epsilon * std::exp(log_right[column]);
  }
};

/// u² or v² from its logarithm.
STEIN_HOST_DEVICE inline double squared_scale(float log_scale) {
  const double scale = std::exp(log_scale);
  return scale * scale;
}

/// Draws four weights, and writes the zeros behind a row that ends among them.
struct DrawMatrix {
  VariationalMatrixRows law;
  float* weights;

  STEIN_HOST_DEVICE void operator()(std::int64_t group) const {
    const std::int64_t first = law.noise.first(group);
    const FourNumbers epsilon = law.noise.normals(group);
    for (int j = 0; j < group_size; ++j) {
      const std::int64_t q = first + j;
      if (q < 0 || q >= law.noise.count) continue;
      const float drawn = law.mean[q] + law.spread(1, q / law.columns, epsilon.number[j], q % law.columns);
      law.weights.put(q, drawn, weights);
    }
  }
};

/// The gradient of one mean from those of S draws.
struct PullBackMatrixMean {
  VariationalMatrixRows law;
  MatrixView<const float> slopes;  ///< [S, ·], this matrix first in each row
  float precision;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    float sum = -precision * law.mean[q];
    for (std::int64_t s = 0; s < slopes.rows; ++s) sum += slopes.data[s * slopes.stride + law.weights.place(q)];
    gradient[q] = sum;
  }
};

/// The gradient of log u of one row, or log v of one column, from those of S draws, whose E are made again.
/// @tparam of_row  whose it is
template <bool of_row>
struct PullBackMatrixScale {
  VariationalMatrixRows law;
  MatrixView<const float> slopes;  ///< [S, ·], this matrix first in each row
  double precision;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t others = of_row ? law.columns : law.rows;
    const float *own = of_row ? law.log_left : law.log_right, *other = of_row ? law.log_right : law.log_left;
    double squares = 0;
    for (std::int64_t k = 0; k < others; ++k) squares += squared_scale(other[k]);
    float total = static_cast<float>(static_cast<double>(others) - precision * squares * squared_scale(own[index]));
    for (std::int64_t s = 0; s < slopes.rows; ++s) {
      float sum = 0;
      for (std::int64_t k = 0; k < others; ++k) {
        const std::int64_t row = of_row ? index : k, column = of_row ? k : index;
        const float slope = slopes.data[s * slopes.stride + row * law.weights.stride + column];
        const float pull = law.spread(slope, row, normal(row * law.columns + column, s), column);
        if (of_row)
          sum += pull;
        else
          total += pull;
      }
      if (of_row) total += sum;
    }
    gradient[index] = total;
  }

 private:
  STEIN_HOST_DEVICE float normal(std::int64_t q, std::int64_t draw) const {
    const std::int64_t place = law.noise.lead() + q;
    return law.noise.normals(place / group_size, static_cast<std::uint32_t>(draw)).number[place % group_size];
  }
};

/// u² or v² from its logarithm.
struct SquaredScaleTerm {
  const float* log_scales;
  STEIN_HOST_DEVICE double operator()(std::int64_t k) const { return squared_scale(log_scales[k]); }
};

/// The square of a number.
struct SquareTerm {
  const float* numbers;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const {
    return static_cast<double>(numbers[q]) * static_cast<double>(numbers[q]);
  }
};

}  // namespace stein::inference::cuda
