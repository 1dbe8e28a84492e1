// Four coordinates of a row: what one thread of a kernel reads and writes at once. Four is also what one block of
// random words gives normals for.
#pragma once

#include <stein/core/box_muller.h>
#include <stein/core/rng.h>
#include <stein/inference/storage/matrix_view.h>

#include <cstdint>

namespace stein::inference::cuda {

inline constexpr std::int64_t group_size = 4;

/// The numbers of a group. Those past the end of the row are zeros between rows, and stay.
struct alignas(16) FourNumbers {
  float number[group_size];
};

/// Groups of a row of `columns` numbers.
STEIN_HOST_DEVICE inline std::int64_t groups_in_row(std::int64_t columns) {
  return (columns + group_size - 1) / group_size;
}

/// Where a group is: its row, its first column, and how many of its numbers belong to the row.
struct GroupPlace {
  std::int64_t row, first;
  int count;
};

/// Place of group `group` of a row of `columns` numbers, of which it has at least one.
STEIN_HOST_DEVICE inline GroupPlace group_place(std::int64_t columns, std::int64_t row, std::int64_t group) {
  const std::int64_t first = group * group_size;
  return {row, first, static_cast<int>(columns - first < group_size ? columns - first : group_size)};
}

/// The numbers at a place; rows begin on cache lines and are a whole number of cache lines apart, as those of `Matrix`.
STEIN_HOST_DEVICE inline FourNumbers& group_at(const MatrixView<float>& rows, const GroupPlace& place) {
  return *reinterpret_cast<FourNumbers*>(rows.data + place.row * rows.stride + place.first);
}
STEIN_HOST_DEVICE inline const FourNumbers& group_at(const MatrixView<const float>& rows, const GroupPlace& place) {
  return *reinterpret_cast<const FourNumbers*>(rows.data + place.row * rows.stride + place.first);
}

/// The standard normals at the indices of a group: the bits of normal_at<float>.
/// @param row  its global number
STEIN_HOST_DEVICE inline FourNumbers normals_at(const NoiseKey& key, std::int64_t row, std::int64_t first) {
  const PhiloxBlock words =
      random_block(key, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(first / group_size));
  const NormalPair<float> low = box_muller_steps<FloatOperations>(words[0], words[1]);
  const NormalPair<float> high = box_muller_steps<FloatOperations>(words[2], words[3]);
  return {{low.first, low.second, high.first, high.second}};
}

}  // namespace stein::inference::cuda
