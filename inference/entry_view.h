// A parameter inside a flat row, as a matrix.
#pragma once

#include <stein/inference/layout.h>
#include <stein/inference/storage/matrix_view.h>

#include <span>

namespace stein::inference {

/// The numbers of `entry` in a row that is laid out as its layout says: its rows by its last dimension.
template <class T>
MatrixView<T> entry_view(std::span<T> row, const LayoutEntry& entry) {
  return {row.data() + entry.offset, entry.rows(), entry.columns(), entry.row_stride};
}

}  // namespace stein::inference
