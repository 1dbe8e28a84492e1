// Four numbers that lie end to end and may begin anywhere: of a parameter within a row, whose neighbours are others'.
#pragma once

#include <stein/inference/cuda/coordinate_group.h>

#include <cstdint>

namespace stein::inference::cuda {

/// Whether numbers first … first + 3 of `count` are all there.
STEIN_HOST_DEVICE inline bool whole_group(std::int64_t first, std::int64_t count) {
  return first >= 0 && first + group_size <= count;
}

/// Whether an address is that of a group, so that all of it is read or written at once.
STEIN_HOST_DEVICE inline bool begins_group(const float* address) {
  return reinterpret_cast<std::uintptr_t>(address) % sizeof(FourNumbers) == 0;
}

/// Numbers first … first + 3 of `count`; zeros where there is none.
STEIN_HOST_DEVICE inline FourNumbers numbers_at(const float* numbers, std::int64_t first, std::int64_t count) {
  if (whole_group(first, count) && begins_group(numbers + first))
    return *reinterpret_cast<const FourNumbers*>(numbers + first);
  FourNumbers found{};
  for (int j = 0; j < group_size; ++j)
    if (first + j >= 0 && first + j < count) found.number[j] = numbers[first + j];
  return found;
}

/// Writes those that are there.
STEIN_HOST_DEVICE inline void put_numbers(const FourNumbers& group, float* numbers, std::int64_t first,
                                          std::int64_t count) {
  if (whole_group(first, count) && begins_group(numbers + first)) {
    *reinterpret_cast<FourNumbers*>(numbers + first) = group;
    return;
  }
  for (int j = 0; j < group_size; ++j)
    if (first + j >= 0 && first + j < count) numbers[first + j] = group.number[j];
}

/// Rows of `columns` numbers that lie `stride` apart, numbered end to end.
struct SpacedRows {
  std::int64_t columns, stride;

  STEIN_HOST_DEVICE bool end_to_end() const { return columns == stride; }
  /// Where number q lies.
  STEIN_HOST_DEVICE std::int64_t place(std::int64_t q) const {
    return end_to_end() ? q : q / columns * stride + q % columns;
  }
  /// Writes number q, and behind the last of a row the zeros up to the next one.
  STEIN_HOST_DEVICE void put(std::int64_t q, float number, float* rows) const {
    float* const there = rows + place(q);
    *there = number;
    if (end_to_end() || q % columns + 1 < columns) return;
    for (std::int64_t k = 1; k <= stride - columns; ++k) there[k] = 0;
  }
};

/// Numbers of a sheet of normals from index `start` on, in the groups that one block of random words gives: the first
/// and the last group may have fewer.
struct NoiseGroups {
  NoiseKey key;
  std::uint32_t row;
  std::uint64_t start;
  std::int64_t count;

  /// Normals that the first group has before `start`.
  STEIN_HOST_DEVICE std::int64_t lead() const { return static_cast<std::int64_t>(start % group_size); }
  STEIN_HOST_DEVICE std::int64_t groups() const { return groups_in_row(lead() + count); }
  /// The number of the first normal of a group, counted from `start`: negative where it lies before.
  STEIN_HOST_DEVICE std::int64_t first(std::int64_t group) const { return group * group_size - lead(); }
  /// The normals of a group, those before `start` too; of a row behind `row`.
  STEIN_HOST_DEVICE FourNumbers normals(std::int64_t group, std::uint32_t rows_behind = 0) const {
    return normals_at(key, row + rows_behind, static_cast<std::int64_t>(start / group_size + group) * group_size);
  }
};

}  // namespace stein::inference::cuda
