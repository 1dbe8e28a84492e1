// Rows of numbers in a checkpoint: packed, without the room between them.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace stein::inference {

/// Stores `rows` as [rows, columns].
template <class Scalar>
void save_rows(Snapshot& snapshot, std::string_view name, MatrixView<const Scalar> rows) {
  std::vector<Scalar> packed;
  packed.reserve(static_cast<std::size_t>(rows.rows * rows.columns));
  for (std::int64_t i = 0; i < rows.rows; ++i) packed.insert(packed.end(), rows.row(i).begin(), rows.row(i).end());
  snapshot.put(name, std::span<const Scalar>(packed), {rows.rows, rows.columns});
}

/// Throws Error(data) naming the array if it has another size.
template <class Scalar>
void restore_rows(const Snapshot& snapshot, std::string_view name, MatrixView<Scalar> rows) {
  std::vector<Scalar> packed(static_cast<std::size_t>(rows.rows * rows.columns));
  snapshot.get(name, std::span<Scalar>(packed));
  for (std::int64_t i = 0; i < rows.rows; ++i)
    std::copy_n(packed.begin() + i * rows.columns, rows.columns, rows.row(i).begin());
}

}  // namespace stein::inference
