// Rows of a device, read by the host.
#pragma once

#include <stein/inference/storage/copy_rows.h>
#include <stein/inference/storage/matrix.h>

namespace stein::inference {

/// A copy on the host of rows that lie on `device`.
template <class Scalar>
Matrix<Scalar> host_copy(MatrixView<const Scalar> rows, Device device) {
  Matrix<Scalar> copy(rows.rows, rows.columns);
  for (std::int64_t i = 0; i < rows.rows; ++i) copy_home<Scalar>(rows.row(i), copy.row(i), device);
  return copy;
}

}  // namespace stein::inference
