// Rows of numbers that lie on a device.
#pragma once

#include <stein/core/error.h>
#include <stein/inference/storage/aligned_buffer.h>
#include <stein/inference/storage/device.h>
#include <stein/inference/storage/device_block.h>
#include <stein/inference/storage/saved_rows.h>

#include <algorithm>
#include <type_traits>

namespace stein::inference {

/// `rows` × `columns` numbers, zeroed, rows a whole number of cache lines apart: SIMD passes read and write whole
/// vectors. Copies copy the numbers. What lies on another device than the host is read and written by the functions of
/// a driver (samplers/driver.h), not through views or rows.
template <class Scalar>
class Matrix {
 public:
  Matrix() = default;  ///< no rows: the view has no data, and nothing is saved
  Matrix(std::int64_t rows, std::int64_t columns, Device device = {})
      : rows_(rows),
        columns_(columns),
        stride_(padded_columns(columns)),
        device_(device),
        numbers_(on_host() ? static_cast<std::size_t>(rows * stride_) : 0),
        block_(device, on_host() ? 0 : static_cast<std::size_t>(rows * stride_) * sizeof(Scalar)) {}

  bool empty() const { return numbers_.size() == 0 && block_.bytes() == 0; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  Device device() const { return device_; }

  MatrixView<Scalar> view() {
    return {on_host() ? numbers_.data() : static_cast<Scalar*>(block_.data()), rows_, columns_, stride_};
  }
  MatrixView<const Scalar> view() const {
    return {on_host() ? numbers_.data() : static_cast<const Scalar*>(block_.data()), rows_, columns_, stride_};
  }
  std::span<Scalar> row(std::int64_t i) { return view().row(i); }
  std::span<const Scalar> row(std::int64_t i) const { return view().row(i); }

  /// The same numbers on another device.
  Matrix to(Device device) const {
    if (device == device_) return *this;
    Matrix copy(rows_, columns_, device);
    if (copy.on_host()) {
      block_.copy_out(copy.numbers_.data());
    } else if (on_host()) {
      copy.block_.copy_in(numbers_.data());
    } else {
      copy.block_.copy_in(to(Device{}).numbers_.data());
    }
    return copy;
  }
  /// Sets every number. Throws Error(usage) for doubles on another device than the host.
  void fill(Scalar value) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (on_host()) {
        std::ranges::fill(row(i), value);
      } else if constexpr (std::is_same_v<Scalar, float>) {
        block_.fill(static_cast<std::size_t>(i * stride_), static_cast<std::size_t>(columns_), value);
      } else {
        fail(ErrorKind::usage, "a matrix on a device: only floats can be filled");
      }
    }
  }

  /// Stores the numbers as [rows, columns]; nothing if there are none.
  void save(Snapshot& snapshot, std::string_view name) const {
    if (empty()) return;
    if (on_host()) {
      save_rows(snapshot, name, view());
    } else {
      to(Device{}).save(snapshot, name);
    }
  }
  /// Throws Error(data) naming the array if it has another size.
  void restore(const Snapshot& snapshot, std::string_view name) {
    if (empty()) return;
    if (!on_host()) {
      Matrix host(rows_, columns_);
      host.restore(snapshot, name);
      block_.copy_in(host.numbers_.data());
      return;
    }
    // Older checkpoints hold the state of samplers with the room between its rows.
    const bool with_room = snapshot.size_of(name) == numbers_.size();
    restore_rows(snapshot, name, with_room ? MatrixView<Scalar>{numbers_.data(), rows_, stride_, stride_} : view());
  }

 private:
  bool on_host() const { return device_.kind == Device::Kind::host; }

  std::int64_t rows_ = 0, columns_ = 0, stride_ = 0;
  Device device_{};
  AlignedBuffer<Scalar> numbers_;  ///< on the host
  DeviceBlock block_;              ///< elsewhere
};

}  // namespace stein::inference
