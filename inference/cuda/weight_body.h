// What one thread of the small CUDA kernels over weights does: the prior of weights, dropped units, noise, the rates of
// sharpening, the spike and slab, rows with and without room between them. All pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/number_group.h>
#include <stein/inference/density_operations.h>
#include <stein/inference/models/sharpening_pass.h>
#include <stein/inference/parameterizations/dropout_pass.h>
#include <stein/inference/priors/slab_shares.h>

#include <cmath>

namespace stein::inference::cuda {

/// Subtracts the slope of a mixture at one weight: the bits of fused/scale_mixture_pass.h.
struct AddMixture {
  ScaleMixture law;
  const float* weights;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    gradient[q] -= MixtureStep<DensityOperations>(law, weights[q]).slope;
  }
};

/// log p(w) of a mixture at one weight.
struct MixtureTerm {
  ScaleMixture law;
  const float* weights;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const {
    return MixtureStep<DensityOperations>(law, weights[q]).value;
  }
};

/// Subtracts the slopes of a mixture whose rows have one component each at one row.
struct AddRowMixture {
  RowMixture law;
  const float* weights;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t row) const {
    const float* const own = weights + row * law.stride;
    const auto pull = static_cast<float>(RowMixtureStep(law, own).pull);
    const auto centre = static_cast<float>(law.law.centre);
    for (std::int64_t j = 0; j < law.columns; ++j) gradient[row * law.stride + j] -= pull * (own[j] - centre);
  }
};

/// log p of one row.
struct RowMixtureTerm {
  RowMixture law;
  const float* weights;
  STEIN_HOST_DEVICE double operator()(std::int64_t row) const {
    return RowMixtureStep(law, weights + row * law.stride).value;
  }
};

/// Multiplies one weight with the factor of the unit that gives its input.
struct DropWeight {
  DroppedUnits units;
  std::uint32_t draw;
  float* weights;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const SpacedRows rows{units.columns, units.stride};
    weights[rows.place(q)] *= static_cast<float>(units.factor(draw, q / units.columns));
  }
};

/// The gradient of one weight whose unit may be dropped, from those of S draws.
struct PullBackDropped {
  DroppedUnits units;
  std::uint32_t first_draw;
  MatrixView<const float> slopes;  ///< [S, ·], this matrix first in each row
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const std::int64_t place = SpacedRows{units.columns, units.stride}.place(q);
    float sum = 0;
    for (std::int64_t s = 0; s < slopes.rows; ++s) {
      const double factor = units.factor(first_draw + static_cast<std::uint32_t>(s), q / units.columns);
      sum += static_cast<float>(factor) * slopes.data[s * slopes.stride + place];
    }
    gradient[q] = sum;
  }
};

/// Adds σ ε to four weights.
struct AddNoise {
  NoiseGroups noise;
  SpacedRows rows;
  float deviation;
  float* weights;

  STEIN_HOST_DEVICE void operator()(std::int64_t group) const {
    const std::int64_t first = noise.first(group);
    const FourNumbers epsilon = noise.normals(group);
    for (int j = 0; j < group_size; ++j)
      if (first + j >= 0 && first + j < noise.count) weights[rows.place(first + j)] += deviation * epsilon.number[j];
  }
};

/// The numbers of a sharpened minibatch in float, as the loops of sharpening_pass.h have them.
struct SharpeningFloats {
  float rate_scale, to_minibatch, deviation, precision;

  explicit SharpeningFloats(const SharpeningNumbers& numbers)
      : rate_scale(static_cast<float>(numbers.rate_scale)),
        to_minibatch(static_cast<float>(numbers.to_minibatch)),
        deviation(static_cast<float>(numbers.deviation)),
        precision(static_cast<float>(numbers.precision)) {}
};

/// Moves four weights along their gradient and by σ₀ ε.
struct SharpenWeights {
  SharpeningFloats numbers;
  NoiseGroups noise;
  const float *rates, *slopes;
  float* weights;

  STEIN_HOST_DEVICE void operator()(std::int64_t group) const {
    const std::int64_t first = noise.first(group), size = noise.count;
    const FourNumbers rate = numbers_at(rates, first, size), slope = numbers_at(slopes, first, size);
    const FourNumbers epsilon = noise.normals(group);
    FourNumbers weight = numbers_at(weights, first, size);
    for (int j = 0; j < group_size; ++j)
      weight.number[j] += numbers.rate_scale * rate.number[j] * slope.number[j] * numbers.to_minibatch +
                          numbers.deviation * epsilon.number[j];
    put_numbers(weight, weights, first, size);
  }
};

/// What the rate of one weight gets back, and its number of the vector of Hessian products where that is asked for.
struct PullBackRate {
  SharpeningFloats numbers;
  const float *rates, *slopes, *gradient;
  float *rate_gradient, *vector;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const float eta = numbers.rate_scale * rates[q], ascent = slopes[q] * numbers.to_minibatch;
    const float pull = slopes[q] * eta * numbers.precision;
    rate_gradient[q] = numbers.rate_scale * (gradient[q] * ascent - pull * ascent);
    if (vector != nullptr) vector[q] = (eta * gradient[q] - eta * pull) * numbers.to_minibatch;
  }
};

/// (N/n) (η G)²/(2σ₀²) of one weight.
struct SharpeningTerm {
  SharpeningFloats numbers;
  const float *rates, *slopes;

  STEIN_HOST_DEVICE double operator()(std::int64_t q) const {
    const float eta = numbers.rate_scale * rates[q], ascent = slopes[q] * numbers.to_minibatch;
    const float pull = slopes[q] * eta * numbers.precision;
    return static_cast<double>(pull) * static_cast<double>(eta * ascent) / 2;
  }
};

/// One number as a double.
struct WidenNumber {
  const float* from;
  double* to;
  STEIN_HOST_DEVICE void operator()(std::int64_t q) const { to[q] = from[q]; }
};

/// Subtracts the slope of spike and slab at one weight.
struct AddSpikeAndSlab {
  double spike, slab;
  const double* rho;
  const float* weights;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const float value = weights[q];
    const double sign = static_cast<double>(value > 0) - static_cast<double>(value < 0);
    gradient[q] -= static_cast<float>((1 - rho[q]) * spike * sign + rho[q] * slab * static_cast<double>(value));
  }
};

/// Moves the probability of the slab of one weight, as reference::move_slab_shares does.
struct MoveSlabShare {
  SpikeOdds odds;
  const double* weights;
  double omega;
  double* rho;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const double beta = weights[q];
    const double slab = 1 / (1 + std::exp(odds.constant - odds.absolute * std::abs(beta) + odds.square * beta * beta));
    rho[q] += omega * (slab - rho[q]);
  }
};

/// (1 − ρ) |β| of one weight.
struct SpikeTerm {
  const double *rho, *weights;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const { return (1 - rho[q]) * std::abs(weights[q]); }
};

/// ρ β² of one weight.
struct SlabTerm {
  const double *rho, *weights;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const { return rho[q] * weights[q] * weights[q]; }
};

/// A number itself.
template <class Number>
struct NumberTerm {
  const Number* numbers;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const { return numbers[q]; }
};

/// value²/divisor of one number.
struct SquareOverTerm {
  const float* values;
  const double* divisors;
  STEIN_HOST_DEVICE double operator()(std::int64_t q) const {
    return static_cast<double>(values[q]) * static_cast<double>(values[q]) / divisors[q];
  }
};

/// Adds factor · value² to one number.
struct AddSquare {
  const float* values;
  double factor;
  double* sums;
  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    sums[q] += factor * static_cast<double>(values[q]) * static_cast<double>(values[q]);
  }
};

/// Writes one number of rows that lie `stride` apart: of `columns` that lie end to end, or a zero behind them.
struct SpreadNumber {
  const float* packed;
  std::int64_t columns, stride;
  float* rows;

  STEIN_HOST_DEVICE void operator()(std::int64_t place) const {
    if (columns == stride) {
      rows[place] = packed[place];
      return;
    }
    const std::int64_t column = place % stride;
    rows[place] = column < columns ? packed[place / stride * columns + column] : 0;
  }
};

/// The reverse, summed over several.
struct PackSum {
  MatrixView<const float> spread_rows;
  std::int64_t columns, stride;
  float* packed;

  STEIN_HOST_DEVICE void operator()(std::int64_t q) const {
    const std::int64_t place = SpacedRows{columns, stride}.place(q);
    float sum = 0;
    for (std::int64_t s = 0; s < spread_rows.rows; ++s) sum += spread_rows.data[s * spread_rows.stride + place];
    packed[q] = sum;
  }
};

/// Adds to one number.
struct ShiftNumber {
  float* values;
  float number;
  STEIN_HOST_DEVICE void operator()(std::int64_t q) const { values[q] += number; }
};

/// Multiplies one number.
struct ScaleNumber {
  float* values;
  float factor;
  STEIN_HOST_DEVICE void operator()(std::int64_t q) const { values[q] *= factor; }
};

}  // namespace stein::inference::cuda
