// What one thread of the CUDA kernels over numbers with a learned precision does (LearnedPrecision). All pointers are
// to memory of the device. The exponential is CUDA's; squares are added up in double, in a fixed order.
#pragma once

#include <stein/inference/cuda/row_bodies.h>
#include <stein/inference/priors/precision_slopes.h>

#include <cmath>

namespace stein::inference::cuda {

/// Sums of squares that each row has.
inline constexpr std::int64_t learned_lanes = 256;

/// Adds up one lane of one row, to sums[row][lane].
struct AddRunSquares {
  MatrixView<const float> values;
  RowRuns runs;
  bool begins;   ///< else on top of what is there
  double* sums;  ///< [rows, learned_lanes]

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const float* const row = values.data + index / learned_lanes * values.stride;
    double sum = begins ? 0 : sums[index];
    for (int k = 0; k < runs.count; ++k)
      for (std::int64_t q = runs.first[k] + index % learned_lanes; q < runs.end[k]; q += learned_lanes)
        sum += static_cast<double>(row[q]) * static_cast<double>(row[q]);
    sums[index] = sum;
  }
};

/// Subtracts the numbers of one group that lie in a run, times the precision of their row.
struct SubtractLearnedGroup {
  MatrixView<const float> values;
  MatrixView<float> gradient;
  std::int64_t coordinate;
  RowRuns runs;

  STEIN_HOST_DEVICE void operator()(const GroupPlace& place) const {
    const double log_precision = values.data[place.row * values.stride + coordinate];
    const auto precision = static_cast<float>(std::exp(log_precision));
    const FourNumbers numbers = group_at(values, place);
    FourNumbers& group = group_at(gradient, place);
    FourNumbers slopes = group;
    for (int j = 0; j < group_size; ++j)
      if (runs.hold(place.first + j)) slopes.number[j] -= precision * numbers.number[j];
    group = slopes;
  }
};

/// Adds the slope of the logarithm of one row's precision.
struct AddPrecisionSlope {
  MatrixView<const float> values;
  MatrixView<float> gradient;
  std::int64_t coordinate;
  const double* sums;  ///< [rows, learned_lanes]; null: of something else, the law alone counts
  double variables, shape, rate;

  STEIN_HOST_DEVICE void operator()(std::int64_t row) const {
    const double log_precision = values.data[row * values.stride + coordinate], precision = std::exp(log_precision);
    float& slope = gradient.data[row * gradient.stride + coordinate];
    if (sums != nullptr) {
      double square = 0;
      for (std::int64_t lane = 0; lane < learned_lanes; ++lane) square += sums[row * learned_lanes + lane];
      slope += static_cast<float>(log_precision_slope(variables, precision, square));
    }
    slope += static_cast<float>(log_gamma_slope(shape, rate, precision));
  }
};

}  // namespace stein::inference::cuda
