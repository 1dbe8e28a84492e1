// What one thread of the small CUDA kernels of a driver does: draws, subtracts, looks for numbers that
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

/// Subtracts four numbers times a factor, products and differences rounded. The spans may begin anywhere: groups begin
/// on 16 bytes, so the first and the last may have fewer numbers. Where the two spans lie differently to 16 bytes,
/// numbers are read and written one by one.
class SubtractGroup {
 public:
  SubtractGroup(const float* values, float scale, float* gradient, std::int64_t count)
      : values_(values),
        scale_(scale),
        gradient_(gradient),
        count_(count),
        lead_(past_boundary(gradient)),
        alike_(past_boundary(values) == lead_) {}

  std::int64_t groups() const { return groups_in_row(lead_ + count_); }
  STEIN_HOST_DEVICE void operator()(std::int64_t index) const {
    const std::int64_t first = index * group_size - lead_;
    if (alike_ && first >= 0 && first + group_size <= count_) {
      const FourNumbers values = *reinterpret_cast<const FourNumbers*>(values_ + first);
      FourNumbers& group = *reinterpret_cast<FourNumbers*>(gradient_ + first);
      FourNumbers gradient = group;
      for (int j = 0; j < group_size; ++j) gradient.number[j] -= scale_ * values.number[j];
      group = gradient;
      return;
    }
    for (std::int64_t q = first; q < first + group_size; ++q)
      if (q >= 0 && q < count_) gradient_[q] -= scale_ * values_[q];
  }

 private:
  /// Numbers between the last 16-byte boundary and an address.
  static std::int64_t past_boundary(const float* address) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % sizeof(FourNumbers) / sizeof(float));
  }

  const float* values_;
  float scale_;
  float* gradient_;
  std::int64_t count_, lead_;
  bool alike_;
};

/// Runs of every row that a launch takes along.
struct RowRuns {
  static constexpr int most = 32;
  int count = 0;
  std::int64_t first[most], end[most];

  /// Those of `all`, NumberRun or ScaledRun, from number `begin` on that one launch has room for.
  template <class Runs>
  static RowRuns some_of(const Runs& all, std::size_t begin) {
    RowRuns some;
    for (std::size_t k = begin; k < all.size() && some.count < most; ++k, ++some.count)
      some.first[some.count] = all[k].first, some.end[some.count] = all[k].first + all[k].count;
    return some;
  }
  STEIN_HOST_DEVICE bool holds(int k, std::int64_t q) const { return q >= first[k] && q < end[k]; }
  STEIN_HOST_DEVICE bool hold(std::int64_t q) const {
    for (int k = 0; k < count; ++k)
      if (holds(k, q)) return true;
    return false;
  }
};

/// Subtracts the numbers of one group that lie in a run, times the factor of the run, products and differences rounded.
struct SubtractRunsGroup {
  MatrixView<const float> values;
  MatrixView<float> gradient;
  RowRuns runs;
  float scale[RowRuns::most];

  STEIN_HOST_DEVICE void operator()(const GroupPlace& place) const {
    const FourNumbers numbers = group_at(values, place);
    FourNumbers& group = group_at(gradient, place);
    FourNumbers slopes = group;
    for (int j = 0; j < group_size; ++j)
      for (int k = 0; k < runs.count; ++k)
        if (runs.holds(k, place.first + j)) slopes.number[j] -= scale[k] * numbers.number[j];
    group = slopes;
  }
};

/// Sets one number.
struct FillNumber {
  float* values;
  float value;

  STEIN_HOST_DEVICE void operator()(std::int64_t index) const { values[index] = value; }
};

}  // namespace stein::inference::cuda
