// A parameter inside a flat row, as a matrix.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix_view.h>

#include <span>
#include <vector>

namespace stein::inference {

/// The numbers of `entry` in a row that is laid out as its layout says: its rows by its last dimension.
template <class T>
MatrixView<T> entry_view(std::span<T> row, const LayoutEntry& entry) {
  return {row.data() + entry.offset, entry.rows(), entry.columns(), entry.row_stride};
}

/// The same without what lies between the rows.
inline std::vector<float> entry_numbers(std::span<const float> row, const LayoutEntry& entry) {
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(entry.size()));
  const MatrixView<const float> values = entry_view(row, entry);
  for (std::int64_t r = 0; r < values.rows; ++r)
    numbers.insert(numbers.end(), values.row(r).begin(), values.row(r).end());
  return numbers;
}

}  // namespace stein::inference
