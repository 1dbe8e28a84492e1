// Rows of a device, read by the host.
#pragma once

#include <stein/inference/storage/device_memory.h>
#include <stein/inference/storage/matrix.h>

#include <algorithm>

namespace stein::inference {

/// A copy on the host of rows that lie on `device`.
template <class Scalar>
Matrix<Scalar> host_copy(MatrixView<const Scalar> rows, Device device) {
  Matrix<Scalar> copy(rows.rows, rows.columns);
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    if (device.kind == Device::Kind::host)
      std::ranges::copy(rows.row(i), copy.row(i).begin());
    else
      device_memory(device.kind)
          .copy_out(device.index, copy.row(i).data(), rows.row(i).data(), rows.row(i).size_bytes());
  }
  return copy;
}

}  // namespace stein::inference
