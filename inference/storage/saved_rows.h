// Rows of numbers in a checkpoint: packed, without the room between them.
#pragma once

#include <stein/core/snapshot.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stein::inference {

/// Stores `rows` as [rows, columns]. They are copied once: what is saved may be as large as the memory that is left.
template <class Scalar>
void save_rows(Snapshot& snapshot, std::string_view name, MatrixView<const Scalar> rows) {
  std::vector<std::byte> packed;
  packed.reserve(static_cast<std::size_t>(rows.rows * rows.columns) * sizeof(Scalar));
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const auto bytes = std::as_bytes(rows.row(i));
    packed.insert(packed.end(), bytes.begin(), bytes.end());
  }
  snapshot.put_array(std::string(name), {element_type<Scalar>(), {rows.rows, rows.columns}, std::move(packed)});
}

/// Throws Error(data) naming the array if it has another size. Takes no memory, but for several rows with room between
/// them.
template <class Scalar>
void restore_rows(const Snapshot& snapshot, std::string_view name, MatrixView<Scalar> rows) {
  if (rows.rows == 1 || rows.stride == rows.columns)
    return snapshot.get(name, std::span<Scalar>(rows.data, static_cast<std::size_t>(rows.rows * rows.columns)));
  std::vector<Scalar> packed(static_cast<std::size_t>(rows.rows * rows.columns));
  snapshot.get(name, std::span<Scalar>(packed));
  for (std::int64_t i = 0; i < rows.rows; ++i)
    std::copy_n(packed.begin() + i * rows.columns, rows.columns, rows.row(i).begin());
}

}  // namespace stein::inference
