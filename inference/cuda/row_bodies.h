// What one thread of the small CUDA kernels of a driver does: draws, multiplies, subtracts, looks for numbers that
// are not finite, sets to zero. All pointers are to memory of the device.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>

#include <cmath>

namespace stein::inference::cuda {

/// One group of N(0, deviation²), row i from row first_row + i of the sheet of `key`.
struct DrawGroup {
  MatrixView<float> rows;
  NoiseKey key;
  std::int64_t first_row;
  double deviation;

  STEIN_HOST_DEVICE void operator()(const GroupPlace& place) const {
    FourNumbers numbers = normals_at(key, first_row + place.row, place.first);
    for (int j = 0; j < group_size; ++j)
      numbers.number[j] = j < place.count ? static_cast<float>(numbers.number[j] * deviation) : 0.0f;
    group_at(rows, place) = numbers;
  }
};

/// One group of a row times a factor, each product rounded once.
struct MultiplyGroup {
  MatrixView<float> rows;
  double factor;

  STEIN_HOST_DEVICE void operator()(const GroupPlace& place) const {
    FourNumbers& group = group_at(rows, place);
    FourNumbers numbers = group;
    for (float& number : numbers.number) number = static_cast<float>(number * factor);
    group = numbers;
  }
};

/// Whether the numbers of one group are finite.
struct FiniteGroup {
  MatrixView<const float> rows;

  STEIN_HOST_DEVICE bool operator()(const GroupPlace& place) const {
    const FourNumbers numbers = group_at(rows, place);
    bool finite = true;
    for (const float number : numbers.number) finite = finite && std::isfinite(number);  // zeros past the end
    return finite;
  }
};

/// Sets one number to 0 where `free` is 0.
struct HoldNumber {
  float* values;
  const std::uint8_t* free;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    if (free[index] == 0) values[index] = 0;
  }
};

/// Subtracts one number times a factor, product and difference rounded.
struct SubtractNumber {
  const float* values;
  float scale;
  float* gradient;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const { gradient[index] -= scale * values[index]; }
};

/// Sets one number.
struct FillNumber {
  float* values;
  float value;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const { values[index] = value; }
};

}  // namespace stein::inference::cuda
