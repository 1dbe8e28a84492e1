// Numbers copied from one place of a device to another, and between a device and the host.
#pragma once

#include <stein/inference/storage/device_memory.h>
#include <stein/inference/storage/matrix_view.h>

#include <algorithm>
#include <span>

namespace stein::inference {

/// to ← from; both have as many rows and columns and lie on `device`.
template <class Scalar>
void copy_rows(MatrixView<const Scalar> from, MatrixView<Scalar> to, Device device) {
  for (std::int64_t i = 0; i < from.rows; ++i) {
    if (device.kind == Device::Kind::host)
      std::ranges::copy(from.row(i), to.row(i).begin());
    else
      device_memory(device.kind)
          .copy_within(device.index, to.row(i).data(), from.row(i).data(), from.row(i).size_bytes());
  }
}

/// to ← from, of which `from` lies on `device` and `to` on the host; as many numbers.
template <class Scalar>
void copy_home(std::span<const Scalar> from, std::span<Scalar> to, Device device) {
  if (device.kind == Device::Kind::host)
    std::ranges::copy(from, to.begin());
  else
    device_memory(device.kind).copy_out(device.index, to.data(), from.data(), from.size_bytes());
}

/// to ← from, of which `from` lies on the host and `to` on `device`; as many numbers.
template <class Scalar>
void copy_there(std::span<const Scalar> from, std::span<Scalar> to, Device device) {
  if (device.kind == Device::Kind::host)
    std::ranges::copy(from, to.begin());
  else
    device_memory(device.kind).copy_in(device.index, to.data(), from.data(), from.size_bytes());
}

}  // namespace stein::inference
